import { setTimeout as sleep } from 'node:timers/promises'
import { perdureError, type Refusal } from '@perdure/ports'
import { createConnection, type QueryCache } from '../connection/connection.ts'
import { kindOf } from '../connection/postgres-error.ts'
import { CLAIM_MARKER, FIND_MARKER, type Marker, type StoredMarker } from './node.ts'
import type { WriteSessions } from './write-sessions.ts'

const PAUSE_MS = 100

/**
 * Finds out whether a transaction whose commit was not answered is committed, by claiming its number. If the number is
 * taken, the transaction is committed. If not, it can never be committed, even if its old connection still executes it.
 *
 * @throws PerdureError `storage-failed` if the server cannot be reached within `settleMs`.
 */
export async function settleCommit(
  marker: Marker,
  deps: { readonly sessions: WriteSessions; readonly cache: QueryCache; readonly settleMs: number },
): Promise<StoredMarker | undefined> {
  const { sessions, cache, settleMs } = deps
  const until = performance.now() + settleMs
  for (;;) {
    await sessions.drop()
    try {
      const db = createConnection((await sessions.get('default')).execute, cache)
      const { changes } = await db.run(CLAIM_MARKER, marker)
      return changes === 1 ? undefined : await db.get(FIND_MARKER, marker)
    } catch (error) {
      if (performance.now() > until || kindOf(error) === 'foreign') throw unknownOutcome(error)
      await sleep(PAUSE_MS)
    }
  }
}

const unknownOutcome = (cause: unknown): Refusal =>
  perdureError('storage-failed', {
    message: 'The connection was lost during a commit, and its outcome could not be found in time.',
    cause,
  })
