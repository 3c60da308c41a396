import type { EpochMs, IdempotencyRecord, IdempotencyStore, StoredResponse } from '@perdure/ports'
import { putEntry, type UndoLog } from './undo-log.ts'
import type { Table, WritesOf } from './write-applier.ts'

export interface IdempotencyTable extends Table<IdempotencyStore, WritesOf<'idempotency'>> {
  /** Replaces every response that contains content of any of these ids with `answer`. */
  replaceAnswers(ids: ReadonlySet<string>, answer: StoredResponse, undo: UndoLog): void
}

/** @param hasRun whether a run with this id exists */
export function createIdempotencyTable(hasRun: (runId: string) => boolean): IdempotencyTable {
  const records = new Map<string, IdempotencyRecord>()
  /** Ids of executing records, by the run that will answer them. */
  const waiting = new Map<string, readonly string[]>()

  const answer = (record: IdempotencyRecord, response: StoredResponse, undo: UndoLog) =>
    putEntry(records, [record.id, Object.freeze({ ...record, response })], undo)

  return {
    store: {
      async find(id, now) {
        const record = records.get(id)
        return record !== undefined && isLive(record, now) ? record : undefined
      },
      runIds: async (ids, now) =>
        [...new Set(ids)].flatMap((id) => {
          const record = records.get(id)
          return record?.runId === undefined || !isLive(record, now) ? [] : [record.runId]
        }),
      holdsLegacyIds: async () => false,
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
      'idempotency.complete'({ runId, response, unlessPatientAt = END_OF_TIME }, { undo }) {
        const isDue = (id: string) => (records.get(id)?.patientUntil ?? 0) <= unlessPatientAt
        const ids = waiting.get(runId) ?? []
        const due = ids.filter(isDue)
        for (const id of due) {
          answer(records.get(id) as IdempotencyRecord, response, undo)
        }
        const patient = ids.filter((id) => !isDue(id))
        putEntry(waiting, [runId, patient.length === 0 ? undefined : patient], undo)
        return due.length
      },
      'idempotency.interrupt'({ response, executor }, { undo }) {
        const left = Array.from(records.values()).filter(
          (record) =>
            record.response === undefined &&
            (executor === undefined || record.executor === (typeof executor === 'object' ? undefined : executor)) &&
            !(record.runId !== undefined && hasRun(record.runId)),
        )
        for (const { id, runId } of left) {
          answer(records.get(id) as IdempotencyRecord, response, undo)
          const others = (waiting.get(runId ?? '') ?? []).filter((other) => other !== id)
          if (runId !== undefined) putEntry(waiting, [runId, others.length === 0 ? undefined : others], undo)
        }
        return left.length
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
    replaceAnswers(ids, response, undo) {
      for (const record of records.values()) {
        const { runId: _run, contentOf, ...rest } = record
        if (contentOf === undefined || !ids.has(contentOf)) continue
        putEntry(records, [record.id, Object.freeze({ ...rest, response })], undo)
      }
    },
  }
}

const END_OF_TIME = Number.POSITIVE_INFINITY as EpochMs

const isLive = (record: IdempotencyRecord, now: EpochMs): boolean =>
  record.response === undefined || record.expiresAt > now
