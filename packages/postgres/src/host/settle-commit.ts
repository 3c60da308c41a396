import { setTimeout as sleep } from 'node:timers/promises'
import { isLeaseLost, leaseLost, perdureError, type Refusal } from '@perdure/ports'
import { createConnection, type QueryCache } from '../connection/connection.ts'
import { type ErrorKind, kindOf } from '../connection/postgres-error.ts'
import { CLAIM_MARKER, FIND_MARKER, type Marker, type StoredMarker } from './node.ts'
import type { WriteSessions } from './write-sessions.ts'

const PAUSE_MS = 100
const MAX_PAUSE_MS = 1_000

/** The server may find the outcome later. */
const PASSING: ReadonlySet<ErrorKind> = new Set(['lost', 'read-only', 'contended', 'timeout', 'full'])

export interface SettleDeps {
  readonly sessions: WriteSessions
  readonly cache: QueryCache
  /** How long the outcome is looked for if the server refuses the search, or if the storage is being closed. */
  readonly settleMs: number
  readonly isClosing: () => boolean
}

/**
 * Finds out whether a transaction whose commit was not answered is committed, by claiming its number. If the number is
 * taken, the transaction is committed. If not, it can never be committed, even if its old connection still executes it.
 * Waits for a server that cannot be reached.
 *
 * @throws PerdureError `storage-failed` if the outcome cannot be found: the server refuses the search, another process has
 *   taken over, or the storage is closed first.
 */
export async function settleCommit(marker: Marker, deps: SettleDeps): Promise<StoredMarker | undefined> {
  const until = performance.now() + deps.settleMs
  for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    await deps.sessions.drop()
    try {
      return await claim(marker, deps)
    } catch (error) {
      if (isLeaseLost(error)) throw error
      const kind = kindOf(error)
      const isAwaited = PASSING.has(kind) && !deps.isClosing()
      if (kind === 'foreign' || (!isAwaited && performance.now() > until)) throw unknownOutcome(error)
      await sleep(pauseMs)
    }
  }
}

async function claim(marker: Marker, { sessions, cache }: SettleDeps): Promise<StoredMarker | undefined> {
  const db = createConnection((await sessions.get('default')).execute, cache)
  const { changes } = await db.run(CLAIM_MARKER, marker)
  if (changes === 1) return undefined
  const stored = await db.get(FIND_MARKER, marker)
  if (stored === undefined) throw leaseLost()
  return stored
}

const unknownOutcome = (cause: unknown): Refusal =>
  perdureError('storage-failed', {
    message: 'The connection was lost during a commit, and its outcome could not be found.',
    cause,
  })
