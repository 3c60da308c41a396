import type { OPERATION_TABLES, Operation } from '@perdure/protocol'
import type { GenericSchema, InferInput, InferOutput } from 'valibot'
import type { ConfiguredGroups } from './configured-methods.ts'
import type { ListCall } from './list-call.ts'
import type { CallOptions, FileContent } from './send-request.ts'

type Tables = typeof OPERATION_TABLES
type Row = { [Group in keyof Tables]: Tables[Group][keyof Tables[Group]] }[keyof Tables]

/**
 * Operations with a method. Pure event streams are read with `subscribe` instead; other protocols have clients of their
 * own.
 */
type CallableRow = Exclude<Row, { readonly id: 'realtime.open-ws' | 'sessions.events' | 'hooks.receive' }>

type Camel<Text extends string> = Text extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Text
type GroupOf<Id extends string> = Id extends `${infer Group}.${string}` ? Group : never
/** `agents.stream` answers as soon as the run is accepted; the method of that name yields the events. */
type MethodOf<Id extends string> = Id extends 'agents.stream'
  ? 'start'
  : Id extends `${string}.${infer Verb}`
    ? Camel<Verb>
    : never

/** Path parameters in order. */
type Params<Path extends string> = Path extends `${string}/:${infer Rest}`
  ? Rest extends `${string}/${infer More}`
    ? [string, ...Params<`/${More}`>]
    : [string]
  : []

/** Query values are sent as text, so a number is accepted wherever the schema takes a string. */
type Query<Input> = {
  readonly [Key in keyof Input]: string extends Exclude<Input[Key], undefined> ? Input[Key] | number : Input[Key]
}

type InputOf<R extends Operation> = R extends { readonly body: infer Body extends GenericSchema }
  ? InferInput<Body>
  : R extends { readonly query: infer Shape extends GenericSchema }
    ? Query<InferInput<Shape>>
    : never

/** An operation that stores a file takes its content first. */
type ContentOf<R extends Operation> = R extends { readonly takesFile: true } ? [content: FileContent] : []

type InputArguments<Input> = [Input] extends [never]
  ? []
  : Record<string, never> extends Input
    ? [input?: Input | undefined]
    : [input: Input]

/** The JSON body of a response; `undefined` for a response without a body. */
type DataOf<Spec> = Spec extends { readonly schema: infer Schema extends GenericSchema }
  ? InferOutput<Schema>
  : Spec extends { readonly stream: string }
    ? never
    : undefined

type AnswerOf<R extends Operation, Data = DataOf<R['responses'][keyof R['responses']]>> = [Data] extends [never]
  ? Promise<Response>
  : R extends { readonly query: { readonly entries: { readonly cursor: unknown } } }
    ? Exclude<Data, undefined> extends { readonly items: (infer Item)[] }
      ? ListCall<Item>
      : Promise<Data>
    : Promise<Data>

type Method<R extends Operation> = (
  ...values: [...Params<R['path']>, ...ContentOf<R>, ...InputArguments<InputOf<R>>, options?: CallOptions]
) => AnswerOf<R>

/** By id, because comparing each row with the pattern of each group exceeds the limits of the compiler. */
type RowsById = { readonly [R in CallableRow as R['id']]: R }
type IdOf<Group extends string> = Extract<keyof RowsById, `${Group}.${string}`>

/** The methods without a configuration: each accepts any id and any input. */
export type UntypedRestClient = {
  readonly [Group in GroupOf<CallableRow['id']>]: {
    readonly [Id in IdOf<Group> as MethodOf<Id>]: Method<RowsById[Id]>
  }
}

/**
 * One method per operation, named after its id: `client.agents.run(agentId, body, options)`. Path parameters come
 * first, then the body or query (if the operation takes one), then options. An operation whose response is neither JSON
 * nor empty resolves to the `Response` itself. `Config` is the type of a configuration: it determines the ids, inputs
 * and results of agents and workflows.
 */
export type RestClient<Config = unknown> = unknown extends Config
  ? UntypedRestClient
  : Omit<UntypedRestClient, 'agents' | 'workflows'> & ConfiguredGroups<Config, UntypedRestClient>
