import type { AgentEvent } from './agent.ts'
import type { RegistrationOptions } from './registration.ts'
import type { RunContext } from './run-context.ts'

/** An object with an `execute` method, whose result must be JSON. */
export interface Workflow<Input = unknown> {
  /** May repeat the id of the registration, and must not differ from it. */
  readonly id?: string
  execute(input: Input, context: RunContext): Promise<unknown> | AsyncGenerator<AgentEvent, unknown, void>
}

export interface WorkflowRegistration<Input = unknown> extends RegistrationOptions<Input> {
  readonly workflow: Workflow<NoInfer<Input>>
}

/**
 * Returns its argument unchanged. Use it to define a workflow in a separate module: the input of `execute` then has the
 * type that the schema in `input` returns.
 */
export const defineWorkflow = <Input = unknown>(
  registration: WorkflowRegistration<Input>,
): WorkflowRegistration<Input> => registration
