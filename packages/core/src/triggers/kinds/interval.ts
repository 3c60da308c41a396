import { plusMs } from '@perdure/ports'
import type { TriggerKindSpec } from './trigger-kind.ts'

/** Occurs every `intervalMs`, counted from the anchor of the trigger. */
export const interval: TriggerKindSpec<'interval'> = {
  source: 'clock',
  needsInput: true,
  ready: async () => undefined,
  ruleOf: ({ kind, intervalMs }) => ({ kind, intervalMs }),
  problemOf: () => undefined,
  next: ({ anchorAt, intervalMs }, after) =>
    plusMs(anchorAt, (Math.floor((after - anchorAt) / intervalMs) + 1) * intervalMs),
  text: ({ intervalMs }) => `every ${intervalMs} ms`,
}
