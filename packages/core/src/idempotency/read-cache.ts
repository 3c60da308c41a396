import type { EpochMs, IdempotencyRecord, IdempotencyStore, Meter } from '@perdure/ports'
import { createBoundedMap } from '../collections/bounded-map.ts'

const MAX_RECORDS = 2_000
const MAX_BODY_LENGTH = 16_384

/** Answers change only when what they hold content of is deleted. */
export interface AnswerCache extends IdempotencyStore {
  /** What is remembered of a live record, without a look at the storage. */
  known(id: string, now: EpochMs): IdempotencyRecord | undefined
  /** Call it before a record is read elsewhere; what it returns remembers that record, unless some was forgotten since. */
  startReading(): (record: IdempotencyRecord) => void
  /** Forgets every answer, also those that are being read. Call it after the commit that has changed some. */
  clear(): void
}

/** Keeps recently read answered records in memory, least recently used out first. */
export function withReadCache(store: IdempotencyStore, meter: Meter): AnswerCache {
  let cache = createBoundedMap<string, IdempotencyRecord>(MAX_RECORDS)
  let lookups = 0
  let hits = 0
  let clearings = 0

  const known: AnswerCache['known'] = (id, now) => {
    const cached = cache.get(id)
    const isHit = cached !== undefined && cached.expiresAt > now
    lookups++
    if (isHit) hits++
    meter.gauge('svc_idempotency_hit_ratio', {}, hits / lookups)
    if (isHit) cache.set(id, cached)
    else if (cached !== undefined) cache.delete(id)
    return isHit ? cached : undefined
  }

  const startReading: AnswerCache['startReading'] = () => {
    const clearingsBefore = clearings
    return (record) => {
      const { id, response } = record
      const isSmall = response !== undefined && response.body.length <= MAX_BODY_LENGTH
      if (isSmall && clearings === clearingsBefore) cache.set(id, record)
    }
  }

  return {
    ...store,
    known,
    startReading,
    async find(id, now) {
      const cached = known(id, now)
      if (cached !== undefined) return cached
      const remember = startReading()
      const record = await store.find(id, now)
      if (record !== undefined) remember(record)
      return record
    },
    clear() {
      clearings++
      cache = createBoundedMap(MAX_RECORDS)
    },
  }
}
