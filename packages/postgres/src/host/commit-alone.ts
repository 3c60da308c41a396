import type { CommitOutcome, NewEvent, StoredEvent, Write } from '@perdure/ports'
import { applyWrites, pending, runLater } from '@perdure/storage'
import type { Session } from '../connection/session.ts'
import { flushEvents } from './append-events.ts'
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
  const log = { db, pending: [] as NewEvent[], events: [] as StoredEvent[], knownPosition }
  const tx = {
    db: db.db,
    append: (events: readonly NewEvent[]) => void log.pending.push(...events),
    flush: () => pending(flushEvents(log)),
  }
  try {
    const [, node] = await session.together(() => Promise.all([session.execute(BEGIN), db.get(HOLD_NODE, marker)]))
    requireNode(node)
    const applied = await runLater(applyWrites(tx, writes))
    if (!applied.committed) {
      await session.execute(ROLLBACK)
      return applied
    }
    const outcome: CommitOutcome = { committed: true, events: log.events, counts: applied.counts }
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
