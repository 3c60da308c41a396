import type { Timers } from '@perdure/ports'

/** The time one stop has in all. What hangs in it is left behind. */
export interface StopBudget {
  /** Resolves when no time is left but for closing: after the drain, or at once when forced. */
  readonly closing: Promise<void>
  /** Resolves when the time is used up. */
  readonly spent: Promise<void>
  /** Leaves two seconds from now. */
  force(): void
  /** Cancels its timers. */
  end(): void
}

const BEYOND_DRAIN_MS = 5_000
const CLOSING_MS = 3_000
const FORCED_MS = 2_000

/** `drainTimeoutMs` and five seconds, from now. */
export function startStopBudget(timers: Timers, drainTimeoutMs: number): StopBudget {
  const closing = Promise.withResolvers<void>()
  const spent = Promise.withResolvers<void>()
  const wholeMs = drainTimeoutMs + BEYOND_DRAIN_MS
  const cancels = [timers.after(wholeMs - CLOSING_MS, closing.resolve), timers.after(wholeMs, spent.resolve)]
  return {
    closing: closing.promise,
    spent: spent.promise,
    force() {
      closing.resolve()
      cancels.push(timers.after(FORCED_MS, spent.resolve))
    },
    end() {
      for (const cancel of cancels) cancel()
    },
  }
}

/** Waits until one of `works` has settled, `ms` at most. */
export async function waitAtMost(timers: Timers, ms: number, works: readonly Promise<unknown>[]): Promise<void> {
  const late = Promise.withResolvers<void>()
  const cancel = timers.after(ms, late.resolve)
  try {
    await Promise.race([...works, late.promise])
  } finally {
    cancel()
  }
}
