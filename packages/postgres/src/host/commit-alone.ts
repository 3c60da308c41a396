import type { CommitOutcome, Write } from '@perdure/ports'
import type { Session } from '../connection/session.ts'
import { applyWrites } from '../rows/commit-writes.ts'
import type { Transaction } from '../rows/write-applier.ts'
import { HOLD_NODE, INSERT_MARKER } from './node.ts'
import { BEGIN, COMMIT, isCommitted, ROLLBACK, requireNode, unansweredCommit } from './transaction.ts'
import type { Turn } from './turn.ts'

/**
 * Applies one commit write by write in a transaction of its own, and finds the exact conflict.
 *
 * @throws UnansweredCommit; any other error means that nothing was written.
 */
export async function commitAlone(
  { session, db, marker, knownPosition }: Turn,
  writes: readonly Write[],
): Promise<CommitOutcome> {
  const tx: Transaction = { db, pending: [], events: [], knownPosition }
  try {
    const [, node] = await session.together(() => Promise.all([session.execute(BEGIN), db.get(HOLD_NODE, marker)]))
    requireNode(node)
    const applied = await applyWrites(tx, writes)
    if (!applied.committed) {
      await session.execute(ROLLBACK)
      return applied
    }
    const outcome: CommitOutcome = { committed: true, events: tx.events, counts: applied.counts }
    const [marked, committed] = await session.together(() =>
      Promise.allSettled([db.run(INSERT_MARKER, marker), session.execute(COMMIT)]),
    )
    if (isCommitted(committed)) return outcome
    throw marked.status === 'rejected' && committed.status === 'fulfilled'
      ? marked.reason
      : unansweredCommit(committed, () => outcome)
  } catch (error) {
    await rollBack(session)
    throw error
  }
}

/** Ends a transaction that failed. A lost connection has ended it. */
export async function rollBack(session: Session): Promise<void> {
  if (!session.isLost()) await session.execute(ROLLBACK).catch(() => undefined)
}
