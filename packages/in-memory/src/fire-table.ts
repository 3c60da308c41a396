import type { FireRecord, FireStore } from '@perdure/ports'
import { changed } from './changed.ts'
import { createRecordTable } from './record-table.ts'
import type { RunBelongings } from './thread-deletion.ts'
import type { TriggerTable } from './trigger-table.ts'
import { putEntry, type UndoLog } from './undo-log.ts'
import type { Table, WritesOf } from './write-applier.ts'

export function createFireTable(
  triggers: TriggerTable,
): Table<FireStore, 'trigger.delete' | WritesOf<'fire'>> & RunBelongings {
  const fires = createRecordTable<FireRecord>()
  const byId = new Map<string, FireRecord>()
  const occurrences = new Map<string, FireRecord>()

  const put = (fire: FireRecord, undo: UndoLog): void => {
    fires.put(fire, undo)
    putEntry(byId, [fire.id, fire], undo)
    if (fire.cause === 'schedule') putEntry(occurrences, [occurrenceOf(fire), fire], undo)
  }
  const remove = (fire: FireRecord, undo: UndoLog): void => {
    fires.delete(fire.id, undo)
    putEntry(byId, [fire.id, undefined], undo)
    if (fire.cause === 'schedule') putEntry(occurrences, [occurrenceOf(fire), undefined], undo)
  }
  const standsInTheWay = (fire: FireRecord) =>
    fires.get(fire.id) ?? (fire.cause === 'schedule' ? occurrences.get(occurrenceOf(fire)) : undefined)

  const pendingOf = (triggerId: string) =>
    [...byId.values()].filter((fire) => fire.triggerId === triggerId && isPending(fire)).length

  return {
    store: {
      find: async (id) => fires.get(id),
      list: async ({ triggerId, status }, page) =>
        fires.page(page, (fire) => fire.triggerId === triggerId && (status === undefined || fire.status === status)),
      async firstPending(limit) {
        const first = new Map<string, FireRecord>()
        for (const fire of [...byId.values()].filter(isPending).sort(byIdOrder)) {
          if (!first.has(fire.triggerId)) first.set(fire.triggerId, fire)
        }
        return [...first.values()].slice(0, limit)
      },
    },
    removeRun(runId, undo) {
      for (const fire of [...byId.values()]) {
        if (fire.runId === runId) put(Object.freeze({ ...fire, runId: undefined }), undo)
      }
    },
    appliers: {
      'trigger.delete'({ id }, { undo }) {
        if (triggers.get(id) === undefined) return 0
        for (const fire of [...byId.values()]) if (fire.triggerId === id) remove(fire, undo)
        triggers.remove(id, undo)
        return 1
      },
      'fire.insert'({ type, fire, maxPending, isOptional }, { undo }) {
        const current = standsInTheWay(fire)
        const isFull = maxPending !== undefined && pendingOf(fire.triggerId) >= maxPending
        const isKnown = triggers.get(fire.triggerId) !== undefined
        if (isOptional && (current !== undefined || isFull || !isKnown)) return 0
        if (current !== undefined || !isKnown) return { type, current }
        if (isFull) return { type, isFull }
        put(fire, undo)
        return 1
      },
      'fire.change'({ type, id, from, change }, { undo }) {
        const current = fires.get(id)
        if (current?.status !== from) return { type, current }
        put(changed(current, change), undo)
        return 1
      },
      'fire.end'({ id, status, reason }, { undo }) {
        const current = fires.get(id)
        if (current?.status !== 'started') return 0
        put(changed(current, { status, reason }), undo)
        const trigger = triggers.get(current.triggerId)
        if (trigger?.lastFireId === id) {
          triggers.put(changed(trigger, { lastStatus: status, version: trigger.version + 1 }), undo)
        }
        return 1
      },
      'fire.prune'({ before, limit }, { undo }) {
        const old = [...byId.values()].filter((fire) => fire.createdAt < before && isOver(fire)).slice(0, limit)
        for (const fire of old) remove(fire, undo)
        return old.length
      },
    },
  }
}

const occurrenceOf = ({ triggerId, scheduledAt }: FireRecord) => `${triggerId} ${scheduledAt}`
const isPending = ({ status }: FireRecord) => status === 'pending'
const isOver = ({ status }: FireRecord) => status !== 'pending' && status !== 'started'
const byIdOrder = (one: FireRecord, other: FireRecord) => (one.id < other.id ? -1 : 1)
