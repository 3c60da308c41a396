/** What JSON makes of a value: a `Date` becomes text, functions are left out. */
export type Stored<T> = 0 extends 1 & T
  ? T
  : unknown extends T
    ? unknown
    : T extends string | number | boolean | null | undefined
      ? T
      : T extends { toJSON(): infer Json }
        ? Json
        : T extends (...args: never) => unknown
          ? undefined
          : T extends readonly unknown[]
            ? { [Index in keyof T]: Stored<T[Index]> }
            : T extends object
              ? { [Key in keyof T as T[Key] extends (...args: never) => unknown ? never : Key]: Stored<T[Key]> }
              : never

/** The types of a definition, for callers; it has no such member at run time. */
export interface DefinedTypes<Sent = unknown, Result = unknown> {
  readonly '~types'?: { readonly input: Sent; readonly result: Result } | undefined
}

/** What a caller of a definition sends. */
export type SentTo<D> = D extends { readonly '~types'?: infer Types }
  ? NonNullable<Types> extends { readonly input: infer Sent }
    ? Sent
    : unknown
  : unknown

/** What a caller of a definition receives. */
export type ResultOf<D> = D extends { readonly '~types'?: infer Types }
  ? NonNullable<Types> extends { readonly result: infer Result }
    ? Result
    : unknown
  : unknown
