import type { Timers } from '@perdure/ports'

/** Time limits of one shutdown. Work that is still pending when they run out is abandoned. */
export interface StopBudget {
  /** Resolves when only the time for closing is left: when the drain timeout ends, or at once if forced. */
  readonly closing: Promise<void>
  /** Resolves when the time is used up. */
  readonly spent: Promise<void>
  /** Reduces the remaining time to two seconds. */
  force(): void
  end(): void
}

const BEYOND_DRAIN_MS = 5_000
const CLOSING_MS = 3_000
const FORCED_MS = 2_000

/** How long a stop may take, from the signal to the exit of the process. */
export const stopLimits = (drainTimeoutMs: number) => ({
  stopBudgetMs: drainTimeoutMs + BEYOND_DRAIN_MS,
  forcedStopMs: FORCED_MS,
})

/** Starts a budget of `drainTimeoutMs` plus five seconds. */
export function startStopBudget(timers: Timers, drainTimeoutMs: number): StopBudget {
  const closing = Promise.withResolvers<void>()
  const spent = Promise.withResolvers<void>()
  const totalMs = stopLimits(drainTimeoutMs).stopBudgetMs
  const cancels = [timers.after(totalMs - CLOSING_MS, closing.resolve), timers.after(totalMs, spent.resolve)]
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

/** Waits until one of the promises has settled, for at most `ms`. */
export async function waitAtMost(timers: Timers, ms: number, promises: readonly Promise<unknown>[]): Promise<void> {
  const timeout = Promise.withResolvers<void>()
  const cancel = timers.after(ms, timeout.resolve)
  try {
    await Promise.race([...promises, timeout.promise])
  } finally {
    cancel()
  }
}
