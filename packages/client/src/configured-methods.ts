import type { CallOptions } from './send-request.ts'

interface Schema {
  readonly '~standard': { readonly types?: { readonly input: unknown; readonly output: unknown } | undefined }
}

/** The type of the input that a client sends, and of the result that it receives; unknown without a schema. */
type InputOf<Registration> = Registration extends { readonly input?: infer S } ? Side<S, 'input'> : unknown
type ResultOf<Registration> = Registration extends { readonly output?: infer S } ? Wire<Side<S, 'output'>> : unknown

type Side<S, Name extends 'input' | 'output'> =
  NonNullable<S> extends Schema ? NonNullable<NonNullable<S>['~standard']['types']>[Name] : unknown

/** The type of a value after JSON serialization and parsing. */
type Wire<T> = unknown extends T
  ? unknown
  : T extends { toJSON(): infer Text }
    ? Text
    : T extends string | number | boolean | null | undefined
      ? T
      : T extends object
        ? { [Key in keyof T]: Wire<T[Key]> }
        : never

/** The registrations in a list, or in the section of a configuration that has the list as a member. */
type Items<List> = List extends readonly (infer Item)[]
  ? Item
  : List extends { readonly registrations?: infer Inner }
    ? Items<NonNullable<Inner>>
    : never

type ItemsOf<Config, Group extends string> = Config extends { readonly [Name in Group]?: infer List }
  ? Items<NonNullable<List>>
  : never

type IdOf<Registration> = Registration extends { readonly id: infer Id extends string } ? Id : never

/** The registrations with this id: several when there are several versions. */
type WithId<Registration, Id> = Registration extends { readonly id: infer Own }
  ? Id extends Own
    ? Registration
    : never
  : never

type Body<Base, Input> = Omit<NonNullable<Base>, 'input'> &
  (undefined extends Input ? { readonly input?: Input } : { readonly input: Input })

type Arguments<Base, Input> = undefined extends Input
  ? [body?: Body<Base, Input>, options?: CallOptions]
  : [body: Body<Base, Input>, options?: CallOptions]

/** The result of a run that has completed has the type of the output schema. */
type Outcome<Base, Result> = Base extends { readonly status: infer Status }
  ? Omit<Base, 'status' | 'result'> &
      (
        | { readonly status: 'completed'; readonly result: Result }
        | { readonly status: Exclude<Status, 'completed'>; readonly result?: undefined }
      )
  : never

/** A method that starts a run. */
type StartMethod<Method, Registration> = Method extends (
  id: string,
  body: infer Base,
  options?: CallOptions,
) => Promise<infer Answer>
  ? <Id extends IdOf<Registration>>(
      id: Id,
      ...values: Arguments<Base, InputOf<WithId<Registration, Id>>>
    ) => Promise<Outcome<Answer, ResultOf<WithId<Registration, Id>>>>
  : never

/** A method whose first parameter is the id of a registration. */
type MethodOfOne<Method, Registration> = Method extends (id: string, ...values: infer Values) => infer Answer
  ? (id: IdOf<Registration>, ...values: Values) => Answer
  : Method

type Group<Methods, Registration, Starting extends string> = {
  readonly [Name in keyof Methods]: Name extends Starting
    ? StartMethod<Methods[Name], Registration>
    : MethodOfOne<Methods[Name], Registration>
}

interface Groups {
  readonly agents: object
  readonly workflows: object
}

/** The methods for agents and workflows, typed by a configuration. */
export interface ConfiguredGroups<Config, Untyped extends Groups> {
  readonly agents: Group<Untyped['agents'], ItemsOf<Config, 'agents'>, 'run' | 'stream'>
  readonly workflows: Group<Untyped['workflows'], ItemsOf<Config, 'workflows'>, 'execute'>
}
