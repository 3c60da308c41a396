import type { TriggerKindSpec } from './trigger-kind.ts'

/** Fires whenever a named event is emitted. A target without an input of its own receives the payload of the event. */
export const event: TriggerKindSpec = {
  source: 'event',
  needsInput: false,
  ready: async () => undefined,
  problemOf: () => undefined,
  next: () => undefined,
  text: ({ event }) => `event ${event}`,
}
