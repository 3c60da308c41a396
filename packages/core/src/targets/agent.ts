import type { EventPhase } from '@perdure/ports'
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
export interface Agent<Input = unknown> {
  /** May repeat the id of the registration, and must not differ from it. */
  readonly id?: string
  run(input: Input, context: AgentContext): Promise<unknown> | AsyncGenerator<AgentEvent, unknown, void>
}

export interface AgentRegistration<Input = unknown> extends RegistrationOptions<Input> {
  readonly agent: Agent<NoInfer<Input>>
}

/**
 * Returns its argument unchanged. Use it to define an agent in a separate module: the input of `run` then has the type
 * that the schema in `input` returns.
 */
export const defineAgent = <Input = unknown>(registration: AgentRegistration<Input>): AgentRegistration<Input> =>
  registration
