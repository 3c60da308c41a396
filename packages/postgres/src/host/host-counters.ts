export interface WriterCounters {
  readonly transactions: number
  /** Commits whose answer was lost. */
  readonly unanswered: number
  /** Transactions that were executed again. */
  readonly retries: number
  /** The same, by the code of the error. */
  readonly retriesByCode: Readonly<Record<string, number>>
}

export interface HostCounters extends WriterCounters {
  /** Commits that were answered. */
  readonly writes: number
}
