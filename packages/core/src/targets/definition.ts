import type { DefinedTypes, Stored } from '@perdure/protocol'
import type { Suspension } from '../durable/suspension.ts'
import type { StreamSource } from '../model-parts/stream-source.ts'
import type { Returned } from './agent.ts'
import type { RegistrationOptions } from './registration.ts'
import type { RunContext } from './run-context.ts'
import type { StandardSchemaV1 } from './standard-schema.ts'

type Schema = StandardSchemaV1 | undefined

/** What the code gets. Without a schema, the input can be any JSON; `unknown` would let a destructured member be `any`. */
// biome-ignore lint/complexity/noBannedTypes: any JSON value but null
type CodeInput<I> = I extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<I> : {} | null | undefined

/** What the code returns: what the output schema accepts or, without one, anything. */
type CodeOutput<O, R> = O extends StandardSchemaV1 ? Returned<StandardSchemaV1.InferInput<O>> : R

/** What a client or a parent run sends. */
type SentInput<I> = I extends StandardSchemaV1 ? StandardSchemaV1.InferInput<I> : unknown

/** What a client or a parent run receives: the value of the output schema or, without one, what the code returns. */
type RunResult<O, R> = Stored<O extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<O> : Completed<R>>

type Completed<R> = R extends AsyncGenerator<unknown, infer Result> ? Value<Result> : Value<Awaited<R>>
type Value<T> = T extends Suspension ? never : T extends StreamSource ? { readonly text: string } : T

type Options<Id extends string, I, O> = Omit<RegistrationOptions<CodeInput<I>, unknown, Id>, 'input' | 'output'> & {
  readonly input?: I
  readonly output?: O
}

interface DefinitionOf<Id extends string, Input, Sent, Result>
  extends RegistrationOptions<Input, unknown, Id, Sent, Result>,
    DefinedTypes<Sent, Result> {
  run(input: Input, context: RunContext): Returned<unknown>
}

/** An agent made by `defineAgent`. `Sent` is what a client sends and `Result` what it receives. */
export interface AgentDefinition<Id extends string = string, Sent = unknown, Result = unknown, Input = unknown>
  extends DefinitionOf<Id, Input, Sent, Result> {
  readonly kind: 'agent'
}

/** A workflow made by `defineWorkflow`. */
export interface WorkflowDefinition<Id extends string = string, Sent = unknown, Result = unknown, Input = unknown>
  extends DefinitionOf<Id, Input, Sent, Result> {
  readonly kind: 'workflow'
}

export type Definition = AgentDefinition | WorkflowDefinition

/**
 * Defines an agent. The schema in `input` determines what the code gets and what callers send; the schema in `output`
 * or, without it, the code determines what callers receive.
 */
export function defineAgent<
  const Id extends string,
  I extends Schema = undefined,
  O extends Schema = undefined,
  R = unknown,
>(
  definition: Options<Id, I, O> & { run(input: CodeInput<I>, context: RunContext): CodeOutput<O, R> },
): AgentDefinition<Id, SentInput<I>, RunResult<O, R>, CodeInput<I>>
export function defineAgent(definition: object): object {
  return { ...definition, kind: 'agent' }
}

/** Defines a workflow. Its types are inferred like those of an agent. */
export function defineWorkflow<
  const Id extends string,
  I extends Schema = undefined,
  O extends Schema = undefined,
  R = unknown,
>(
  definition: Options<Id, I, O> & { run(input: CodeInput<I>, context: RunContext): CodeOutput<O, R> },
): WorkflowDefinition<Id, SentInput<I>, RunResult<O, R>, CodeInput<I>>
export function defineWorkflow(definition: object): object {
  return { ...definition, kind: 'workflow' }
}
