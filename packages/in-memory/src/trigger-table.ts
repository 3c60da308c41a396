import { type TriggerRecord, type TriggerStore, takeWithinPage } from '@perdure/ports'
import { createRecordTable } from './record-table.ts'
import type { RunTable } from './run-table.ts'
import type { UndoLog } from './undo-log.ts'
import { putEntry } from './undo-log.ts'
import type { Table } from './write-applier.ts'

export interface TriggerTable extends Table<TriggerStore, 'trigger.insert' | 'trigger.replace'> {
  get(id: string): TriggerRecord | undefined
  put(trigger: TriggerRecord, undo: UndoLog): void
  remove(id: string, undo: UndoLog): void
}

interface IdPart {
  readonly after?: string | undefined
  readonly limit: number
}

export function createTriggerTable(runs: Pick<RunTable, 'activityOf'>): TriggerTable {
  const triggers = createRecordTable<TriggerRecord>()
  const byId = new Map<string, TriggerRecord>()

  const put = (trigger: TriggerRecord, undo: UndoLog): void => {
    triggers.put(trigger, undo)
    putEntry(byId, [trigger.id, trigger], undo)
  }
  const remove = (id: string, undo: UndoLog): void => {
    triggers.delete(id, undo)
    putEntry(byId, [id, undefined], undo)
  }
  const dueBy = (now: number) =>
    [...byId.values()].filter(({ dueAt }) => dueAt !== undefined && dueAt <= now).sort(byDueAt)

  const listActive = (matches: (trigger: TriggerRecord) => boolean, { after = '', limit }: IdPart) => {
    const matching = [...byId.values()]
      .filter((trigger) => matches(trigger) && isActive(trigger) && trigger.id > after)
      .sort((one, other) => (one.id < other.id ? -1 : 1))
    return takeWithinPage(matching, limit).items
  }

  return {
    store: {
      find: async (id) => triggers.get(id),
      list: async (page) => triggers.page(page, () => true),
      due: async (now, limit) => dueBy(now).slice(0, limit),
      listByEvent: async (event, part) =>
        listActive((trigger) => trigger.kind === 'event' && trigger.event === event, part),
      listByHook: async (hook, part) =>
        listActive((trigger) => trigger.kind === 'webhook' && trigger.hook === hook, part),
      async overview() {
        const active = [...byId.values()].filter(isActive).length
        const nextDueAt = dueBy(Number.POSITIVE_INFINITY)[0]?.dueAt
        return { active, disabled: byId.size - active, nextDueAt }
      },
      lastActivity: async (sessionId) => runs.activityOf(sessionId),
    },
    appliers: {
      'trigger.insert'({ type, trigger, maxTriggers }, { undo }) {
        const current = triggers.get(trigger.id)
        if (current !== undefined) return { type, current }
        if (maxTriggers !== undefined && byId.size >= maxTriggers) return { type, isFull: true }
        put(trigger, undo)
        return 1
      },
      'trigger.replace'({ type, trigger }, { undo }) {
        const current = triggers.get(trigger.id)
        if (current?.version !== trigger.version - 1) return { type, current }
        put(Object.freeze({ ...trigger, createdAt: current.createdAt }), undo)
        return 1
      },
    },
    get: (id) => triggers.get(id),
    put,
    remove,
  }
}

const isActive = ({ enabled, orphanedAt }: TriggerRecord) => enabled && orphanedAt === undefined

const byDueAt = (one: TriggerRecord, other: TriggerRecord) =>
  (one.dueAt ?? 0) - (other.dueAt ?? 0) || (one.id < other.id ? -1 : 1)
