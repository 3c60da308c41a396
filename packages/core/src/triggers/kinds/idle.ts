import type { TriggerKindSpec } from './trigger-kind.ts'

/** Occurs once in each quiet period, `idleMs` after the last activity; `schedule-idle.ts` computes the occurrence. */
export const idle: TriggerKindSpec<'idle'> = {
  source: 'activity',
  needsInput: true,
  ready: async () => undefined,
  ruleOf: ({ kind, idleMs }) => ({ kind, idleMs }),
  problemOf: () => undefined,
  next: () => undefined,
  text: ({ idleMs }) => `idle ${idleMs} ms`,
}
