import type { EventPhase } from '@perdure/ports'
import type { StreamSource } from '../durable/stream-source.ts'
import type { Suspension } from '../durable/suspension.ts'
import type { RegistrationOptions } from './registration.ts'
import type { RunContext } from './run-context.ts'

export type AgentContext = RunContext

/** What a generator agent yields: an event, a piece of text, or a stream to show. */
export type Yielded = AgentEvent | string | StreamSource

export interface AgentEvent {
  readonly type: string
  readonly payload?: unknown
  readonly phase?: EventPhase
}

/** An object with a `run` method, whose result must be JSON. */
export interface Agent<Input = unknown, Output = unknown> {
  /** May repeat the id of the registration, and must not differ from it. */
  readonly id?: string
  /** May also return the stream of a model, as `streamText` does; the result is then `{ text }`. */
  run(input: Input, context: AgentContext): Returned<Output>
}

/** What the code of a run returns: its result, a suspension, a stream to show, or a generator. */
export type Returned<Output> =
  | Promise<Output | Suspension | StreamSource>
  | AsyncGenerator<Yielded, Output | Suspension | StreamSource, void>
  | StreamSource

export interface AgentRegistration<
  Input = unknown,
  Output = unknown,
  Id extends string = string,
  Sent = unknown,
  Result = unknown,
> extends RegistrationOptions<Input, Output, Id, Sent, Result> {
  readonly agent: Agent<NoInfer<Input>, NoInfer<Output>>
}

/**
 * Returns its argument unchanged. Use it to define an agent in a separate module: the input of `run` then has the type
 * that the schema in `input` returns, and its result must have the type that the schema in `output` accepts.
 */
export const defineAgent = <
  Input = unknown,
  Output = unknown,
  const Id extends string = string,
  Sent = unknown,
  Result = unknown,
>(
  registration: AgentRegistration<Input, Output, Id, Sent, Result>,
): AgentRegistration<Input, Output, Id, Sent, Result> => registration
