/** Port. In-process timers. Durable timers are stored as rows and use this port only to wake the process. */
export interface Timers {
  /**
   * Calls `fn` once after at least `delayMs`. Returns a function that cancels the timer; a no-op after it has fired.
   */
  after(delayMs: number, fn: () => void): () => void
}

/** Resolves once everything that waits for the event loop had its turn. Long work calls it between its pieces. */
export type YieldTurn = () => Promise<void>
