/** Port. Delayed work inside this process; durable timers are rows, and only wake through here. */
export interface Timers {
  /** Calls `fn` once after at least `delayMs`. Returns a function that cancels it; cancelling late is a no-op. */
  after(delayMs: number, fn: () => void): () => void
}
