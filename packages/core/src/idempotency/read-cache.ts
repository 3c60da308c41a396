import type { IdempotencyRecord, IdempotencyStore, Meter } from '@berth/ports'
import { createBoundedMap } from '../bounded-map.ts'

const MAX_RECORDS = 2_000
const MAX_BODY_LENGTH = 16_384

/** Answers change only when what they hold content of is deleted. */
export interface AnswerCache extends IdempotencyStore {
  /** Forgets every answer, also those that are being read. Call it after the commit that has changed some. */
  clear(): void
}

/** Keeps recently read answered records in memory, least recently used out first. */
export function withReadCache(store: IdempotencyStore, meter: Meter): AnswerCache {
  let cache = createBoundedMap<string, IdempotencyRecord>(MAX_RECORDS)
  let lookups = 0
  let hits = 0
  let clearings = 0

  const remember = (record: IdempotencyRecord) => {
    if (record.response === undefined || record.response.body.length > MAX_BODY_LENGTH) return
    cache.set(record.id, record)
  }

  return {
    async find(id, now) {
      const cached = cache.get(id)
      const isHit = cached !== undefined && cached.expiresAt > now
      lookups++
      if (isHit) hits++
      meter.gauge('svc_idempotency_hit_ratio', {}, hits / lookups)
      if (isHit) {
        remember(cached)
        return cached
      }
      cache.delete(id)
      const clearingsBefore = clearings
      const record = await store.find(id, now)
      if (record !== undefined && clearings === clearingsBefore) remember(record)
      return record
    },
    clear() {
      clearings++
      cache = createBoundedMap(MAX_RECORDS)
    },
  }
}
