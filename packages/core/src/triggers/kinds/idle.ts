import type { TriggerKindSpec } from './trigger-kind.ts'

/** Occurs once in each quiet period, `idleMs` after the last activity; `schedule-idle.ts` computes the occurrence. */
export const idle: TriggerKindSpec = {
  source: 'activity',
  needsInput: true,
  ready: async () => undefined,
  problemOf: () => undefined,
  next: () => undefined,
  text: ({ idleMs }) => `idle ${idleMs} ms`,
}
