import { type CommitMark, markOf } from '../file/commit-mark.ts'
import type { Connection } from '../file/connection.ts'
import type { Lease } from '../file/lease.ts'
import { lostLogError } from '../file/sqlite-error.ts'
import type { Synchronous } from '../file/synchronous.ts'
import type { StorageWorker } from './worker-host.ts'

type MarksInLock = Pick<Lease, 'countOf' | 'storeMark'>

/**
 * Checks a database that was found without its log.
 *
 * @throws StartError `storage-corrupt` if it lacks commits that the last server marked as stored
 */
export function requireMarkedCommits(path: string, found: CommitMark | undefined, lease: MarksInLock): void {
  if (found !== undefined && found.count < lease.countOf(found.epoch)) throw lostLogError(path)
}

interface CommitMarksOptions {
  readonly worker: Pick<StorageWorker, 'send'>
  readonly lease: MarksInLock
  readonly synchronous: Synchronous | undefined
}

/**
 * Makes the lock file agree with an open database. Returns a function that stores the next mark, in the database and
 * then in the lock file. With `synchronous: 'normal'`, it stores none, because a power loss may undo commits that a
 * mark has already counted.
 */
export function createCommitMarks(db: Connection, options: CommitMarksOptions): () => Promise<void> {
  const { worker, lease, synchronous } = options
  if (synchronous === 'normal') return async () => undefined
  let { epoch, count } = markOf(db.database)
  // A lock file that was copied at a different time than the database may count commits that this database never had.
  if (lease.countOf(epoch) !== count) lease.storeMark({ epoch, count })
  return async () => {
    count++
    await worker.send({ type: 'mark', count })
    lease.storeMark({ epoch, count })
  }
}
