import type { Event } from '../client/resources.ts'

/** Whether an event changes the status of a run of the agent. */
export const isRunOf =
  (agentId: string) =>
  ({ type, subject }: Event): boolean =>
    type.startsWith('run.') && subject.startsWith(`agent:${agentId}/`)
