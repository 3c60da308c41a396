import type { Host } from './host.ts'

export interface UpkeepParts {
  readonly host: Pick<Host, 'tend' | 'state' | 'counters'>
  /** Moves the log into the file; `truncate` also gives its space back. */
  readonly checkpoint: (truncate: boolean) => Promise<unknown>
  readonly walBytes: () => number
  /** Looks how much of the disk is free. */
  readonly noteFree: () => Promise<void>
}

/** Rounds between two checkpoints. */
const ROUNDS = 15

/** Its database and its disk. One round of looking after a served file, to be called about every second. Never rejects. */
export function createUpkeep({ host, checkpoint, walBytes, noteFree }: UpkeepParts): () => Promise<void> {
  let round = 0
  let transactions = host.counters().transactions

  const trimLog = async () => {
    const isIdle = host.counters().transactions === transactions
    transactions = host.counters().transactions
    // Under load the log is used again and again; only one that nobody writes to is worth its cost to cut off.
    if (walBytes() > 0) await checkpoint(isIdle)
  }

  return async () => {
    round++
    if (host.state() === 'full' || round % ROUNDS === 0) await noteFree()
    // The first round makes the reserve, so that the start does not wait for it.
    if (host.state() === 'full' || round % ROUNDS === 1) await host.tend()
    if (round % ROUNDS === 0 && host.state() !== 'failed') await trimLog().catch(() => undefined)
  }
}
