import type { EpochMs, IdempotencyRecord, IdempotencyStore, Meter } from '@perdure/ports'
import { createBoundedMap } from '../collections/bounded-map.ts'

const MAX_RECORDS = 2_000
const MAX_BODY_LENGTH = 16_384
/** How much one key changes the share of repeated keys. */
const SHARE_STEP = 1 / 16

/** A cache of stored answers, which change only when their content is deleted. */
export interface AnswerCache extends IdempotencyStore {
  /** Returns an unexpired record from memory, without a storage read. */
  fromCache(id: string, now: EpochMs): IdempotencyRecord | undefined
  /**
   * Call it before reading the record of a key elsewhere. The returned function caches that record, unless `clear` was
   * called since; pass `undefined` if the key is new.
   */
  startReading(): (record: IdempotencyRecord | undefined) => void
  /** Whether most of the latest keys that were not in memory had been used before; false after a read that failed. */
  expectsRepeats(): boolean
  /** Evicts all answers, including those being read. Call it after a commit that changed answers. */
  clear(): void
}

/**
 * Keeps recently read, answered records in memory; evicts the least recently used.
 *
 * @param isCurrent whether this process knows of all deletions; if not, no answer comes from memory
 */
export function withReadCache(
  store: IdempotencyStore,
  meter: Meter,
  isCurrent: () => boolean = () => true,
): AnswerCache {
  let cache = createBoundedMap<string, IdempotencyRecord>(MAX_RECORDS)
  let lookups = 0
  let hits = 0
  let clearings = 0
  let repeatedShare = 0

  const fromCache: AnswerCache['fromCache'] = (id, now) => {
    const cached = cache.get(id)
    const isHit = cached !== undefined && cached.expiresAt > now && isCurrent()
    lookups++
    if (isHit) hits++
    meter.gauge('svc_idempotency_hit_ratio', {}, hits / lookups)
    if (isHit) cache.set(id, cached)
    else if (cached !== undefined && cached.expiresAt <= now) cache.delete(id)
    return isHit ? cached : undefined
  }

  const startReading: AnswerCache['startReading'] = () => {
    const clearingsBefore = clearings
    return (record) => {
      repeatedShare += SHARE_STEP * ((record === undefined ? 0 : 1) - repeatedShare)
      if (record === undefined) return
      const { id, response } = record
      const isSmall = response !== undefined && response.body.length <= MAX_BODY_LENGTH
      if (isSmall && clearings === clearingsBefore) cache.set(id, record)
    }
  }

  return {
    ...store,
    fromCache,
    startReading,
    expectsRepeats: () => repeatedShare > 0.5,
    async find(id, now) {
      const cached = fromCache(id, now)
      if (cached !== undefined) return cached
      const remember = startReading()
      try {
        const record = await store.find(id, now)
        remember(record)
        return record
      } catch (error) {
        repeatedShare = 0
        throw error
      }
    },
    clear() {
      clearings++
      cache = createBoundedMap(MAX_RECORDS)
    },
  }
}
