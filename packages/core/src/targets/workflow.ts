import type { AgentEvent, RegistrationOptions, RunContext } from './agent.ts'

/** Anything with an id and an `execute`; its result must be JSON. */
export interface Workflow<Input = unknown> {
  readonly id: string
  execute(input: Input, context: RunContext): Promise<unknown> | AsyncGenerator<AgentEvent, unknown, void>
}

export interface WorkflowRegistration<Input = unknown> extends RegistrationOptions<Input> {
  readonly workflow: Workflow<NoInfer<Input>>
}

/** Typed identity for a workflow in a module of its own: the schema in `input` gives `execute` the type of its input. */
export const defineWorkflow = <Input = unknown>(
  registration: WorkflowRegistration<Input>,
): WorkflowRegistration<Input> => registration
