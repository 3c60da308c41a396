import { type EpochMs, type IdempotencyRecord, type IdempotencyStore, isStorageBusy } from '@perdure/ports'

type ReadRecords = (ids: readonly string[], now: EpochMs) => Promise<readonly IdempotencyRecord[]>

interface Lookup {
  readonly id: string
  readonly now: EpochMs
  readonly resolve: (record: IdempotencyRecord | undefined) => void
  readonly reject: (error: unknown) => void
}

const MAX_IDS = 64
const MAX_READS = 2

/** Finds records by their ids. Lookups of one turn of the event loop, and those that arrive during reads, share a read. */
export function createKeyLookup(read: ReadRecords): IdempotencyStore['find'] {
  const waiting: Lookup[] = []
  let reads = 0
  let isScheduled = false

  const readNext = async (): Promise<void> => {
    isScheduled = false
    if (reads === MAX_READS) return
    reads++
    while (waiting.length > 0) await answer(waiting.splice(0, MAX_IDS))
    reads--
  }

  const answer = async (lookups: readonly Lookup[]): Promise<void> => {
    try {
      const now = Math.min(...lookups.map((lookup) => lookup.now)) as EpochMs
      const records = await read([...new Set(lookups.map(({ id }) => id))], now)
      const byId = new Map(records.map((record) => [record.id, record]))
      for (const { id, now, resolve } of lookups) resolve(liveAt(byId.get(id), now))
    } catch (error) {
      // The lookups that wait would each fail after another timeout.
      const failed = isStorageBusy(error) ? [...lookups, ...waiting.splice(0)] : lookups
      for (const { reject } of failed) reject(error)
    }
  }

  return (id, now) =>
    new Promise((resolve, reject) => {
      waiting.push({ id, now, resolve, reject })
      if (!isScheduled && reads < MAX_READS) {
        isScheduled = true
        setImmediate(readNext)
      }
    })
}

const liveAt = (record: IdempotencyRecord | undefined, now: EpochMs): IdempotencyRecord | undefined =>
  record !== undefined && (record.response === undefined || record.expiresAt > now) ? record : undefined
