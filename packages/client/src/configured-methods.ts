import type { ResultOf as ResultOfDefinition, SentTo, Stored } from '@perdure/protocol'
import type { RunStream, StreamOptions } from './run-events.ts'
import type { CallOptions } from './send-request.ts'

interface Schema {
  readonly '~standard': { readonly types?: { readonly input: unknown; readonly output: unknown } | undefined }
}

/**
 * The type of the input that a client sends, and of the result that it receives: those of a definition or, for a plain object,
 * those of its schemas; unknown without a schema.
 */
type InputOf<Registration> = Registration extends { readonly kind: string }
  ? SentTo<Registration>
  : Registration extends { readonly input?: infer S }
    ? Side<S, 'input'>
    : unknown
type ResultOf<Registration> = Registration extends { readonly kind: string }
  ? ResultOfDefinition<Registration>
  : Registration extends { readonly output?: infer S }
    ? Stored<Side<S, 'output'>>
    : unknown

type Side<S, Name extends 'input' | 'output'> =
  NonNullable<S> extends Schema ? NonNullable<NonNullable<S>['~standard']['types']>[Name] : unknown

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

type Arguments<Base, Input, Options = CallOptions> = undefined extends Input
  ? [body?: Body<Base, Input>, options?: Options]
  : [body: Body<Base, Input>, options?: Options]

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
  readonly agents: Group<Untyped['agents'], ItemsOf<Config, 'agents'>, 'run' | 'start'>
  readonly workflows: Group<Untyped['workflows'], ItemsOf<Config, 'workflows'>, 'execute'>
}

/** The method that starts a run as `Method` does, and then yields its events. */
type StreamMethod<Method> = Method extends (
  id: string,
  body?: infer Base,
  options?: CallOptions,
) => Promise<infer Answer>
  ? (id: string, body?: Base, options?: StreamOptions) => RunStream<Answer>
  : never

type ConfiguredStreamMethod<Method, Registration> = Method extends (
  id: string,
  body: infer Base,
  options?: CallOptions,
) => Promise<infer Answer>
  ? <Id extends IdOf<Registration>>(
      id: Id,
      ...values: Arguments<Base, InputOf<WithId<Registration, Id>>, StreamOptions>
    ) => RunStream<Outcome<Answer, ResultOf<WithId<Registration, Id>>>>
  : never

interface StartMethods {
  readonly agents: { readonly start: unknown }
  readonly workflows: { readonly execute: unknown }
}

/** The methods that start a run and yield its events until it ends; the run continues if you stop reading. */
export interface StreamMethods<Config, Untyped extends StartMethods> {
  readonly agents: {
    /** Starts the agent once, whatever happens to the connection, and yields the events of the run. */
    readonly stream: unknown extends Config
      ? StreamMethod<Untyped['agents']['start']>
      : ConfiguredStreamMethod<Untyped['agents']['start'], ItemsOf<Config, 'agents'>>
  }
  readonly workflows: {
    /** Executes the workflow once, whatever happens to the connection, and yields the events of the run. */
    readonly stream: unknown extends Config
      ? StreamMethod<Untyped['workflows']['execute']>
      : ConfiguredStreamMethod<Untyped['workflows']['execute'], ItemsOf<Config, 'workflows'>>
  }
}
