import type { Host } from './host.ts'

export interface UpkeepParts {
  readonly host: Pick<Host, 'checkDisk' | 'state' | 'counters'>
  /** Runs a WAL checkpoint; `truncate` also truncates the WAL. */
  readonly checkpoint: (truncate: boolean) => Promise<unknown>
  readonly walBytes: () => number
  /** Stores a mark that counts all commits so far; see `CommitMark`. */
  readonly storeMark: () => Promise<unknown>
  /** Updates the measured free space of the disk. */
  readonly measureFreeSpace: () => Promise<void>
}

/** How often upkeep runs and the files are checked. */
export const UPKEEP_MS = 1_000

/** Rounds between two checkpoints. */
const CHECKPOINT_ROUNDS = 15

/**
 * Returns a function that does one round of upkeep for the database and its disk. Call it about once a second; it never
 * rejects.
 */
export function createUpkeep(parts: UpkeepParts): () => Promise<void> {
  const { host, checkpoint, walBytes, storeMark, measureFreeSpace } = parts
  let round = 0
  let transactions = host.counters().transactions
  let marked = transactions

  const markCommits = async () => {
    const committed = host.counters().transactions
    if (committed === marked) return
    await storeMark()
    marked = committed
  }

  const checkpointWal = async () => {
    const isIdle = host.counters().transactions === transactions
    transactions = host.counters().transactions
    // Under load SQLite reuses the WAL; truncating it pays off only when nothing writes to it.
    if (walBytes() > 0) await checkpoint(isIdle)
  }

  return async () => {
    round++
    if (host.state() === 'open') await markCommits().catch(() => undefined)
    if (host.state() === 'full' || round % CHECKPOINT_ROUNDS === 0) await measureFreeSpace()
    // The first round creates the reserve, so that startup does not wait for it.
    const isReserveDue = round % CHECKPOINT_ROUNDS === 1 && host.state() !== 'failed'
    if (host.state() === 'full' || isReserveDue) await host.checkDisk()
    if (round % CHECKPOINT_ROUNDS === 0 && host.state() !== 'failed') await checkpointWal().catch(() => undefined)
  }
}
