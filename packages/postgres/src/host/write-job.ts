import type { CommitOutcome, Write } from '@perdure/ports'

export interface WriteJob {
  readonly writes: readonly Write[]
}

export type JobResult = { readonly outcome: CommitOutcome } | { readonly error: unknown }

/** The numbers of a node: each transaction has its own. */
export interface GroupNumbers {
  readonly node: string
  next(): number
}
