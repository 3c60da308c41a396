import type { AgentEvent, RegistrationOptions, RunContext } from '../agents/agent.ts'

/** Anything with an id and an `execute`; its result must be JSON. */
export interface Workflow {
  readonly id: string
  execute(input: unknown, context: RunContext): Promise<unknown> | AsyncGenerator<AgentEvent, unknown, void>
}

export interface WorkflowRegistration extends RegistrationOptions {
  readonly workflow: Workflow
}
