import type { EventPhase } from '@perdure/ports'
import type { Suspension } from '../durable/suspension.ts'
import type { RegistrationOptions } from './registration.ts'
import type { RunContext } from './run-context.ts'

export type AgentContext = RunContext

/** What a generator agent yields instead of calling `emit`. */
export interface AgentEvent {
  readonly type: string
  readonly payload?: unknown
  readonly phase?: EventPhase
}

/** An object with a `run` method, whose result must be JSON. */
export interface Agent<Input = unknown, Output = unknown> {
  /** May repeat the id of the registration, and must not differ from it. */
  readonly id?: string
  run(
    input: Input,
    context: AgentContext,
  ): Promise<Output | Suspension> | AsyncGenerator<AgentEvent, Output | Suspension, void>
}

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
