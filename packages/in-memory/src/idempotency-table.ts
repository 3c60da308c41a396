import type { EpochMs, IdempotencyRecord, IdempotencyStore } from '@berth/ports'
import { putEntry } from './undo-log.ts'
import type { WriteAppliers } from './write-applier.ts'

export interface IdempotencyTable {
  readonly store: IdempotencyStore
  readonly appliers: Pick<WriteAppliers, 'idempotency.reserve' | 'idempotency.complete' | 'idempotency.prune'>
}

export function createIdempotencyTable(): IdempotencyTable {
  const records = new Map<string, IdempotencyRecord>()
  /** Ids of the executing records, by the run that will answer them. */
  const waiting = new Map<string, readonly string[]>()

  return {
    store: {
      async find(id, now) {
        const record = records.get(id)
        return record !== undefined && isLive(record, now) ? record : undefined
      },
    },
    appliers: {
      'idempotency.reserve'({ type, record, now }, { undo }) {
        const current = records.get(record.id)
        if (current !== undefined && isLive(current, now)) return { type, current }
        putEntry(records, [record.id, record], undo)
        const { runId } = record
        if (runId !== undefined && record.response === undefined) {
          putEntry(waiting, [runId, [...(waiting.get(runId) ?? []), record.id]], undo)
        }
        return 1
      },
      'idempotency.complete'({ runId, response }, { undo }) {
        const ids = waiting.get(runId) ?? []
        for (const id of ids) {
          const record = records.get(id) as IdempotencyRecord
          putEntry(records, [id, Object.freeze({ ...record, response })], undo)
        }
        putEntry(waiting, [runId, undefined], undo)
        return ids.length
      },
      'idempotency.prune'({ now, limit }, { undo }) {
        let pruned = 0
        for (const record of records.values()) {
          if (pruned === limit) break
          if (isLive(record, now)) continue
          putEntry(records, [record.id, undefined], undo)
          pruned += 1
        }
        return pruned
      },
    },
  }
}

const isLive = (record: IdempotencyRecord, now: EpochMs): boolean =>
  record.response === undefined || record.expiresAt > now
