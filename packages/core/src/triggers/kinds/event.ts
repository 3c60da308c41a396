import type { TriggerKindSpec } from './trigger-kind.ts'

/** Fires whenever a named event is emitted; without an input of its own, the target gets the payload of the event. */
export const event: TriggerKindSpec = {
  source: 'event',
  needsInput: false,
  ready: async () => undefined,
  problemOf: () => undefined,
  next: () => undefined,
  text: ({ event }) => `event ${event}`,
}
