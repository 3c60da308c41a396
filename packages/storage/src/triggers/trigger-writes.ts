import { takeLock } from '../lock.ts'
import type { Program } from '../program.ts'
import { compile, paramsFor } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { deleteBy, insertInto } from '../query/table-queries.ts'
import type { WriteAppliers, WritesOf } from '../transaction.ts'
import { CHANGING_TRIGGER_COLUMNS, TRIGGER_COLUMNS, type TriggerRow, toTriggerRow } from './trigger-row.ts'
import { triggerReads } from './trigger-store.ts'

export const triggerWrites: WriteAppliers<WritesOf<'trigger'>> = {
  *'trigger.insert'({ db }, { type, trigger, maxTriggers }) {
    if (maxTriggers !== undefined && (yield* isFull(db, maxTriggers))) {
      const current = yield* triggerReads.find(db, trigger.id)
      return current === undefined ? { type, isFull: true } : { type, current }
    }
    const changes = yield* db.run(insertTrigger, toTriggerRow(trigger))
    return changes === 1 ? 1 : { type, current: yield* triggerReads.find(db, trigger.id) }
  },
  *'trigger.replace'({ db }, { type, trigger }) {
    const changes = yield* db.run(replaceTrigger, { ...toTriggerRow(trigger), before: trigger.version - 1 })
    return changes === 1 ? 1 : { type, current: yield* triggerReads.find(db, trigger.id) }
  },
  *'trigger.delete'({ db }, { id }) {
    yield* db.run(deleteFires, { id })
    return yield* db.run(deleteTrigger, { id })
  },
}

/** Serializes the insertions that have a limit, so that none counts too few triggers. */
function* isFull(db: Db, maxTriggers: number): Program<boolean> {
  yield* takeLock(db, 'triggers')
  const { active, disabled } = yield* triggerReads.overview(db)
  return active + disabled >= maxTriggers
}

const insertTrigger = insertInto<TriggerRow>('triggers', TRIGGER_COLUMNS, 'id')

const replaceTrigger = compile<TriggerRow & { readonly before: number }, unknown>((param) =>
  from
    .updateTable('triggers')
    .set(paramsFor(param, CHANGING_TRIGGER_COLUMNS))
    .where('id', '=', param('id'))
    .where('version', '=', param('before')),
)

const deleteFires = deleteBy('trigger_id', 'trigger_fires')
const deleteTrigger = deleteBy('id', 'triggers')
