import type { TriggerRecord } from '@perdure/ports'
import { compile, from, placesFor } from './query.ts'
import type { TriggerTable } from './schema.ts'
import { findTrigger } from './trigger-store.ts'
import type { WriteAppliers } from './write-applier.ts'

export const triggerWrites: WriteAppliers<'trigger.insert' | 'trigger.replace' | 'trigger.delete'> = {
  'trigger.insert'({ db }, { type, trigger }) {
    const { changes } = db.run(insertTrigger, toRow(trigger))
    return changes === 1 ? 1 : { type, current: findTrigger(db, trigger.id) }
  },
  'trigger.replace'({ db }, { type, trigger }) {
    const { changes } = db.run(replaceTrigger, { ...toRow(trigger), before: trigger.version - 1 })
    return changes === 1 ? 1 : { type, current: findTrigger(db, trigger.id) }
  },
  'trigger.delete'({ db }, { id }) {
    db.run(deleteFires, { id })
    return db.run(deleteTrigger, { id }).changes
  },
}

type NewTriggerRow = Omit<TriggerTable, 'key'>

const CHANGING = [
  'kind',
  'event',
  'is_active',
  'due_at',
  'last_fire_id',
  'last_status',
  'version',
  'definition',
] as const
const COLUMNS = ['id', ...CHANGING, 'created_at'] as const

const insertTrigger = compile<NewTriggerRow, unknown>((place) =>
  from
    .insertInto('triggers')
    .values(placesFor(place, COLUMNS))
    .onConflict((conflict) => conflict.column('id').doNothing()),
)

const replaceTrigger = compile<NewTriggerRow & { readonly before: number }, unknown>((place) =>
  from
    .updateTable('triggers')
    .set(placesFor(place, CHANGING))
    .where('id', '=', place('id'))
    .where('version', '=', place('before')),
)

const deleteFires = compile<{ id: string }, unknown>((place) =>
  from.deleteFrom('trigger_fires').where('trigger_id', '=', place('id')),
)

const deleteTrigger = compile<{ id: string }, unknown>((place) =>
  from.deleteFrom('triggers').where('id', '=', place('id')),
)

/** The definition holds what no query looks at. */
function toRow(trigger: TriggerRecord): NewTriggerRow {
  const { id, kind, event, dueAt, lastFireId, lastStatus, version, createdAt, ...definition } = trigger
  return {
    id,
    kind,
    event: event ?? null,
    is_active: trigger.enabled && trigger.orphanedAt === undefined ? 1 : 0,
    due_at: dueAt ?? null,
    last_fire_id: lastFireId ?? null,
    last_status: lastStatus ?? null,
    version,
    created_at: createdAt,
    definition: JSON.stringify(definition),
  }
}
