import type { Conflict, FireRecord, FireStatus, Write } from '@perdure/ports'
import { sql } from 'kysely'
import { takeLock } from '../lock.ts'
import type { Program } from '../program.ts'
import { compile } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import type { Changes, RowIn } from '../query/record-table.ts'
import { insertInto, pruneQuery, setGiven } from '../query/table-queries.ts'
import type { WriteAppliers, WritesOf } from '../transaction.ts'
import { FIRES, type FireRow } from './fire-row.ts'
import { findOccurrence, fireReads } from './fire-store.ts'
import { triggerReads } from './trigger-store.ts'

export const fireWrites: WriteAppliers<WritesOf<'fire'>> = {
  *'fire.insert'({ db }, write) {
    const outcome = yield* insertOne(db, write)
    return write.isOptional && outcome !== 1 ? 0 : outcome
  },
  *'fire.change'({ db }, { type, id, from: status, change }) {
    const changes = yield* db.run(changeFire, { id, before: status, ...FIRE_CHANGES.toChanges(change) })
    return changes === 1 ? 1 : { type, current: yield* fireReads.find(db, id) }
  },
  *'fire.end'({ db }, { id, status, reason }) {
    const columns = FIRE_CHANGES.toChanges({ status, reason })
    const changes = yield* db.run(changeFire, { id, before: 'started', ...columns })
    if (changes === 1) yield* db.run(settleTrigger, { id, status })
    return changes
  },
  *'fire.prune'({ db }, { before, limit }) {
    return yield* db.run(PRUNE_FIRES, { before, limit })
  },
}

type FireInsert = Extract<Write, { readonly type: 'fire.insert' }>
type FireConflict = Extract<Conflict, { readonly type: 'fire.insert' }>

function* insertOne(db: Db, { type, fire, maxPending }: FireInsert): Program<1 | FireConflict> {
  if ((yield* triggerReads.find(db, fire.triggerId)) === undefined)
    return { type, current: yield* fireReads.find(db, fire.id) }
  if (maxPending !== undefined && (yield* isFull(db, fire.triggerId, maxPending))) {
    const current = (yield* fireReads.find(db, fire.id)) ?? (yield* findScheduled(db, fire))
    return current === undefined ? { type, isFull: true } : { type, current }
  }
  const changes = yield* db.run(insertFire, FIRES.toRow(fire))
  return changes === 1
    ? 1
    : { type, current: (yield* fireReads.find(db, fire.id)) ?? (yield* findOccurrence(db, fire)) }
}

/** Serializes the insertions that have a limit, so that none counts too few fires. */
function* isFull(db: Db, triggerId: string, maxPending: number): Program<boolean> {
  yield* takeLock(db, 'fires')
  return (yield* db.all(PENDING_FIRES, { triggerId, limit: maxPending })).length >= maxPending
}

function* findScheduled(db: Db, fire: FireRecord): Program<FireRecord | undefined> {
  return fire.cause === 'schedule' ? yield* findOccurrence(db, fire) : undefined
}

/** The status is a literal, so that the partial index applies. */
export const PENDING_FIRES = compile<{ readonly triggerId: string; readonly limit: number }, object>((param) =>
  from
    .selectFrom('trigger_fires')
    .select('id')
    .where('trigger_id', '=', param('triggerId'))
    .where(sql<boolean>`status = 'pending'`)
    .limit(param('limit')),
)

/** `null` leaves the column unchanged. */
const FIRE_CHANGES = FIRES.only('status', 'firedAt', 'runId', 'reason')

const insertFire = insertInto<FireRow>('trigger_fires', FIRES.columns)

const changeFire = compile<Changes<RowIn<typeof FIRE_CHANGES>> & { id: string; before: string }, unknown>((param) =>
  from
    .updateTable('trigger_fires')
    .set(setGiven(param, FIRE_CHANGES.columns))
    .where('id', '=', param('id'))
    .where(sql<boolean>`status = ${param('before')}`),
)

const settleTrigger = compile<{ readonly id: string; readonly status: string }, unknown>((param) =>
  from
    .updateTable('triggers')
    .set({ last_status: sql<FireStatus>`${param('status')}`, version: sql`version + 1` })
    .where('id', '=', (eb) => eb.selectFrom('trigger_fires').select('trigger_id').where('id', '=', param('id')))
    .where('last_fire_id', '=', param('id')),
)

export const PRUNE_FIRES = pruneQuery<{ before: number; limit: number }>(
  'trigger_fires',
  (param) => sql`created_at < ${param('before')} and status <> 'pending' and status <> 'started'`,
  ({ rowId }) => rowId,
)
