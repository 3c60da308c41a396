import { leaseLost } from '@perdure/ports'
import type { Statement, StatementResult } from '../connection/connection.ts'
import type { StoredMarker } from './node.ts'

const statement = (text: string): Statement => ({ text, values: [] })

export const BEGIN = statement('begin')
export const COMMIT = statement('commit')
export const ROLLBACK = statement('rollback')

/** The server answers the commit of a transaction that has failed with the command `ROLLBACK`. */
export const isCommitted = (commit: PromiseSettledResult<StatementResult>): boolean =>
  commit.status === 'fulfilled' && commit.value.command === 'COMMIT'

const UNANSWERED = Symbol('unanswered commit')

/** A commit was sent, and its answer was lost. */
export interface UnansweredCommit<Result> extends Error {
  readonly [UNANSWERED]: true
  /** The result, if the transaction turns out to be committed. */
  readonly resultOf: (marker: StoredMarker) => Result
}

export const isUnanswered = (error: unknown): error is UnansweredCommit<unknown> =>
  error instanceof Error && UNANSWERED in error

export function unansweredCommit<Result>(
  commit: PromiseSettledResult<StatementResult>,
  resultOf: (marker: StoredMarker) => Result,
): Error {
  const cause = commit.status === 'rejected' ? commit.reason : undefined
  return Object.assign(new Error('the answer to a commit was lost', { cause }), { [UNANSWERED]: true, resultOf })
}

/** The row of this node is gone: another process has taken over. */
export function requireNode(node: object | undefined): void {
  if (node !== undefined) return
  throw leaseLost()
}
