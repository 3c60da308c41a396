import type { CommitOutcome, NewEvent, StoredEvent, Write } from '@perdure/ports'
import { applyWrites, ready, runNow } from '@perdure/storage'
import type { Connection } from '../file/connection.ts'
import { appendEvents } from './append-events.ts'

/** Applies the writes of a commit within the open transaction. After a conflict or an error the host rolls back. */
export function applyCommit(connection: Connection, writes: readonly Write[]): CommitOutcome {
  const events: StoredEvent[] = []
  const tx = {
    db: connection.db,
    append: (added: readonly NewEvent[]) => void events.push(...appendEvents(connection, added)),
    flush: () => ready(undefined),
  }
  const applied = runNow(applyWrites(tx, writes))
  return applied.committed ? { ...applied, events } : applied
}
