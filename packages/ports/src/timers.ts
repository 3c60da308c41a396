/** Port. In-process timers. Durable timers are stored as rows and use this port only to wake the process. */
export interface Timers {
  /**
   * Calls `fn` once after at least `delayMs`. Returns a function that cancels the timer; a no-op after it has fired.
   */
  after(delayMs: number, fn: () => void): () => void
}

/** Resolves once everything that waits for the event loop had its turn. Long work calls it between its pieces. */
export type YieldTurn = () => Promise<void>

/** How long work may keep its turn before others get one. */
const TURN_MS = 8

/** Returns a function that resolves at once while the present turn is short, and otherwise after others had theirs. */
export function createPauses(yieldTurn: YieldTurn): () => Promise<void> | undefined {
  let startedMs = performance.now()
  return () => {
    if (performance.now() - startedMs < TURN_MS) return undefined
    return yieldTurn().then(() => {
      startedMs = performance.now()
    })
  }
}
