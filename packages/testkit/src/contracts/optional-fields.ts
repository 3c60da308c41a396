import type { EpochMs } from '@perdure/ports'
import { BUILT_AT } from '../builders.ts'

type OptionalKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T]

/** A value for every optional field of a record: a missing field does not compile. */
export type Optionals<T> = { readonly [K in OptionalKeys<T>]-?: Exclude<T[K], undefined> }

/** One object per field, with only that field. */
export const eachAlone = <T extends object>(fields: T): readonly Partial<T>[] =>
  Object.entries(fields).map(([field, value]) => ({ [field]: value }) as Partial<T>)

/** The instant this many milliseconds after `BUILT_AT`. */
export const at = (ms: number): EpochMs => (BUILT_AT + ms) as EpochMs
