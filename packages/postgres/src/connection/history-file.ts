import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** The newest state of the database server that this process, or another one on this machine, has seen. */
export interface Seen {
  /** Identifies the database server and its copies, such as standbys. */
  readonly system: string
  /** Identifies the table `meta`: a restored dump is another history. */
  readonly table: string
  /** Increases when a standby is promoted, and after a recovery to a moment in the past. */
  readonly timeline: number
  /** Id of the lineage; missing if no process has written since the promotion, or in a file of an earlier release. */
  readonly lineage?: string | undefined
  /** The position of the newest event that was acknowledged. */
  readonly position: number
  /** Tells this event from one that another history has at the position; missing if this process has not written it. */
  readonly event?: string | undefined
}

/** Returns `undefined` if the file is missing or cannot be read. */
export async function readSeen(path: string): Promise<Seen | undefined> {
  try {
    const seen = JSON.parse(await readFile(path, 'utf8')) as Partial<Seen>
    const { system, table, timeline, lineage, position, event } = seen
    const isWhole =
      typeof system === 'string' &&
      typeof table === 'string' &&
      Number.isInteger(timeline) &&
      (lineage === undefined || typeof lineage === 'string') &&
      Number.isInteger(position) &&
      (event === undefined || typeof event === 'string')
    return isWhole ? ({ system, table, timeline, lineage, position, event } as Seen) : undefined
  } catch {
    return undefined
  }
}

/**
 * Writes what was seen, unless the file has something newer: several processes may share it. `ancestors` are the ids of
 * the lineages that the server of `seen` continues.
 */
export async function writeSeen(path: string, seen: Seen, ancestors: readonly string[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await withLock(`${path}.lock`, async () => {
    const stored = await readSeen(path)
    const newest = stored === undefined ? seen : newerOf(stored, seen, ancestors)
    if (newest === stored) return
    const temporary = `${path}.${randomUUID()}.new`
    await writeFile(temporary, JSON.stringify(newest), { mode: 0o600 })
    await rename(temporary, path)
  })
}

function newerOf(stored: Seen, seen: Seen, ancestors: readonly string[]): Seen {
  if (stored.system !== seen.system || stored.table !== seen.table) return seen
  if (stored.timeline !== seen.timeline) return stored.timeline > seen.timeline ? stored : seen
  const isComparable = stored.lineage === undefined || stored.lineage === seen.lineage
  if (isComparable) return withNewest(seen, stored)
  return ancestors.includes(stored.lineage) ? seen : stored
}

/** The state with the newest acknowledged event of both. */
export function withNewest(seen: Seen, other: Seen): Seen {
  const { position, event } = other.position > seen.position ? other : seen
  return { ...seen, position, event }
}

const LOCK_RETRY_MS = 10
/** A process holds the lock for a few milliseconds; one that holds it for so long was killed. */
const LOCK_LOST_MS = 2_000

async function withLock(path: string, work: () => Promise<void>): Promise<void> {
  while (!(await takeLock(path))) await sleep(LOCK_RETRY_MS)
  try {
    await work()
  } finally {
    await rm(path, { force: true })
  }
}

async function takeLock(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o600)).close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    const taken = await stat(path).catch(() => undefined)
    if (taken !== undefined && Date.now() - taken.mtimeMs > LOCK_LOST_MS) await rm(path, { force: true })
    return false
  }
}
