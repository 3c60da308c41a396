import { setImmediate } from 'node:timers/promises'
import type { Pace } from './pace.ts'

export interface ManualPace extends Pace {
  /** Advances the clock and runs everything that is due. */
  advance(ms: number): Promise<void>
  /** Delays of the pending timers. */
  waiting(): number[]
}

/** Waits until pending promises have settled and stream chunks and messages have arrived. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 24; turn += 1) await setImmediate()
}

export function createManualPace({ chance = 0.5 }: { readonly chance?: number } = {}): ManualPace {
  const timers = new Set<{ readonly at: number; readonly fn: () => void }>()
  let now = Date.parse('2026-01-01T00:00:00.000Z')

  return {
    now: () => now,
    random: () => chance,
    after(delayMs, fn) {
      const timer = { at: now + delayMs, fn }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    async advance(ms) {
      const end = now + ms
      await settle()
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)
        if (next === undefined) break
        timers.delete(next)
        now = Math.max(now, next.at)
        next.fn()
        await settle()
      }
      now = end
    },
    waiting: () => [...timers].map(({ at }) => at - now).toSorted((a, b) => a - b),
  }
}
