import { plusMs } from '@perdure/ports'
import type { TriggerKindSpec } from './trigger-kind.ts'

/** Occurs every `intervalMs`, counted from the anchor of the trigger. */
export const interval: TriggerKindSpec = {
  source: 'clock',
  needsInput: true,
  ready: async () => undefined,
  problemOf: () => undefined,
  next({ anchorAt, intervalMs }, after) {
    if (intervalMs === undefined) return undefined
    return plusMs(anchorAt, (Math.floor((after - anchorAt) / intervalMs) + 1) * intervalMs)
  },
  text: ({ intervalMs }) => `every ${intervalMs} ms`,
}
