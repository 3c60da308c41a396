import { CHANGING_TRIGGER_COLUMNS, paramsFor, TRIGGER_COLUMNS, type TriggerRow, toTriggerRow } from '@perdure/sql'
import { compile, from } from '../query/compile.ts'
import { findTrigger } from './trigger-store.ts'
import type { WriteAppliers } from './write-applier.ts'

export const triggerWrites: WriteAppliers<'trigger.insert' | 'trigger.replace' | 'trigger.delete'> = {
  'trigger.insert'({ db }, { type, trigger }) {
    const { changes } = db.run(insertTrigger, toTriggerRow(trigger))
    return changes === 1 ? 1 : { type, current: findTrigger(db, trigger.id) }
  },
  'trigger.replace'({ db }, { type, trigger }) {
    const { changes } = db.run(replaceTrigger, { ...toTriggerRow(trigger), before: trigger.version - 1 })
    return changes === 1 ? 1 : { type, current: findTrigger(db, trigger.id) }
  },
  'trigger.delete'({ db }, { id }) {
    db.run(deleteFires, { id })
    return db.run(deleteTrigger, { id }).changes
  },
}

const insertTrigger = compile<TriggerRow, unknown>((param) =>
  from
    .insertInto('triggers')
    .values(paramsFor(param, TRIGGER_COLUMNS))
    .onConflict((conflict) => conflict.column('id').doNothing()),
)

const replaceTrigger = compile<TriggerRow & { readonly before: number }, unknown>((param) =>
  from
    .updateTable('triggers')
    .set(paramsFor(param, CHANGING_TRIGGER_COLUMNS))
    .where('id', '=', param('id'))
    .where('version', '=', param('before')),
)

const deleteFires = compile<{ id: string }, unknown>((param) =>
  from.deleteFrom('trigger_fires').where('trigger_id', '=', param('id')),
)

const deleteTrigger = compile<{ id: string }, unknown>((param) =>
  from.deleteFrom('triggers').where('id', '=', param('id')),
)
