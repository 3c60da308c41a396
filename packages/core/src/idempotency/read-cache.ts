import type { IdempotencyRecord, IdempotencyStore, Meter } from '@berth/ports'
import { createBoundedMap } from '../bounded-map.ts'

const MAX_RECORDS = 2_000
const MAX_BODY_LENGTH = 16_384

/** Keeps recently read answered records in memory, least recently used out first. Answers never change, so none goes stale. */
export function withReadCache(store: IdempotencyStore, meter: Meter): IdempotencyStore {
  const cache = createBoundedMap<string, IdempotencyRecord>(MAX_RECORDS)
  let lookups = 0
  let hits = 0

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
      const record = await store.find(id, now)
      if (record !== undefined) remember(record)
      return record
    },
  }
}
