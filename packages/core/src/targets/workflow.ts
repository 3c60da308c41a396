import type { AgentEvent } from './agent.ts'
import type { RegistrationOptions } from './registration.ts'
import type { RunContext } from './run-context.ts'

/** An object with an id and an `execute` method, whose result must be JSON. */
export interface Workflow<Input = unknown> {
  readonly id: string
  execute(input: Input, context: RunContext): Promise<unknown> | AsyncGenerator<AgentEvent, unknown, void>
}

export interface WorkflowRegistration<Input = unknown> extends RegistrationOptions<Input> {
  readonly workflow: Workflow<NoInfer<Input>>
}

/**
 * Returns its argument. For a workflow in a module of its own, it gives `execute` the input type of the schema in
 * `input`.
 */
export const defineWorkflow = <Input = unknown>(
  registration: WorkflowRegistration<Input>,
): WorkflowRegistration<Input> => registration
