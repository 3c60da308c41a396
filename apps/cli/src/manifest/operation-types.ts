import type { OPERATION_TABLES, Operation } from '@perdure/protocol'
import type { GenericSchema, InferInput, InferOutput } from 'valibot'
import type { Call } from '../call.ts'
import type { Columns } from '../output/columns.ts'
import type { Paint } from '../output/paint.ts'
import type { CommandSpec } from './command-spec.ts'

type Tables = typeof OPERATION_TABLES
type Row = { [Group in keyof Tables]: Tables[Group][keyof Tables[Group]] }[keyof Tables]
type RowsById = { readonly [R in Row as R['id']]: R }

export type OperationId = keyof RowsById

type DataOf<Spec> = Spec extends { readonly schema: infer Schema extends GenericSchema } ? InferOutput<Schema> : never
type ResponsesOf<R extends Operation> = R['responses'][keyof R['responses']]

/** The JSON body of a successful answer. */
export type AnswerOf<Id extends OperationId> = DataOf<ResponsesOf<RowsById[Id]>>

export type ItemOf<Id extends OperationId> = AnswerOf<Id> extends { readonly items: (infer Item)[] } ? Item : never

/** The body of the request, or its query. */
export type InputOf<Id extends OperationId> = RowsById[Id] extends { readonly body: infer Body extends GenericSchema }
  ? InferInput<Body>
  : RowsById[Id] extends { readonly query: infer Query extends GenericSchema }
    ? InferInput<Query>
    : never

type Input<Id extends OperationId> = InputOf<Id> & object

/** What a row says of a command that calls one operation. Its first arguments are the parameters of the path. */
export interface OperationRow<Id extends OperationId>
  extends Pick<CommandSpec, 'path' | 'summary' | 'arguments' | 'flags' | 'examples'> {
  /**
   * The query or the body, from the flags and arguments. Default: none. `never` lets each row declare the flags that it
   * has.
   */
  readonly input?: (values: never, call: Call) => Input<Id> | Promise<Input<Id>>
}

export interface ListRow<Id extends OperationId> extends OperationRow<Id> {
  readonly columns: Columns<ItemOf<Id>> | (() => Promise<Columns<ItemOf<Id>>>)
  /** Whether the command has no flags for pages, as the list is short. */
  readonly isShort?: true
  /** A line for stderr. */
  readonly note?: (items: readonly ItemOf<Id>[], values: never, call: Call) => string | undefined
}

export interface AnswerRow<Id extends OperationId> extends OperationRow<Id> {
  /** The answer as text. Default: one line per member. */
  readonly text?: (answer: AnswerOf<Id>, values: never, paint: Paint) => string
  /** A line for stderr, left out with JSON. */
  readonly note?: (answer: AnswerOf<Id>, values: never) => string
}
