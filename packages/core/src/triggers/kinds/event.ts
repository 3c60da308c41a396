import type { TriggerKindSpec } from './trigger-kind.ts'

/** Fires whenever a named event is emitted. A target without an input of its own receives the payload of the event. */
export const event: TriggerKindSpec<'event'> = {
  source: 'event',
  needsInput: false,
  ready: async () => undefined,
  ruleOf: ({ kind, event }) => ({ kind, event }),
  problemOf: () => undefined,
  next: () => undefined,
  text: ({ event }) => `event ${event}`,
}
