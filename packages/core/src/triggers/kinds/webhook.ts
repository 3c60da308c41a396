import type { TriggerKindSpec } from './trigger-kind.ts'

/** Fires for each delivery of a hook. A target without an input of its own receives the payload of the delivery. */
export const webhook: TriggerKindSpec<'webhook'> = {
  source: 'event',
  needsInput: false,
  ready: async () => undefined,
  ruleOf: ({ kind, hook }) => ({ kind, hook }),
  problemOf: () => undefined,
  next: () => undefined,
  text: ({ hook }) => `hook ${hook}`,
}
