import type { WriterCounters } from './create-writer.ts'

export interface HostCounters extends WriterCounters {
  /** Commits that were answered. */
  readonly writes: number
}
