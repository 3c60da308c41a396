import type { Conflict, FireChange, FireRecord, FireStatus, Write } from '@perdure/ports'
import { sql } from 'kysely'
import { takeLock } from '../lock.ts'
import type { Program } from '../program.ts'
import { compile, paramsFor } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import type { WriteAppliers } from '../transaction.ts'
import { FIRE_COLUMNS, type FireRow, toFireRow } from './fire-row.ts'
import { findFire, findOccurrence } from './fire-store.ts'
import { findTrigger } from './trigger-store.ts'

export const fireWrites: WriteAppliers<'fire.insert' | 'fire.change' | 'fire.end' | 'fire.prune'> = {
  *'fire.insert'({ db }, write) {
    const outcome = yield* insertOne(db, write)
    return write.isOptional && outcome !== 1 ? 0 : outcome
  },
  *'fire.change'({ db }, { type, id, from: status, change }) {
    const changes = yield* db.run(changeFire, { id, before: status, ...toChangedColumns(change) })
    return changes === 1 ? 1 : { type, current: yield* findFire(db, id) }
  },
  *'fire.end'({ db }, { id, status, reason }) {
    const columns = toChangedColumns({ status, reason })
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
  if ((yield* findTrigger(db, fire.triggerId)) === undefined) return { type, current: yield* findFire(db, fire.id) }
  if (maxPending !== undefined && (yield* isFull(db, fire.triggerId, maxPending))) {
    const current = (yield* findFire(db, fire.id)) ?? (yield* findScheduled(db, fire))
    return current === undefined ? { type, isFull: true } : { type, current }
  }
  const changes = yield* db.run(insertFire, toFireRow(fire))
  return changes === 1 ? 1 : { type, current: (yield* findFire(db, fire.id)) ?? (yield* findOccurrence(db, fire)) }
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

const CHANGING = ['status', 'fired_at', 'run_id', 'reason'] as const

/** `null` leaves the column unchanged. */
type ChangedColumns = Pick<FireRow, (typeof CHANGING)[number]>

const insertFire = compile<FireRow, unknown>((param) =>
  from
    .insertInto('trigger_fires')
    .values(paramsFor(param, FIRE_COLUMNS))
    .onConflict((conflict) => conflict.doNothing()),
)

const changeFire = compile<ChangedColumns & { readonly id: string; readonly before: string }, unknown>((param) =>
  from
    .updateTable('trigger_fires')
    .set(Object.fromEntries(CHANGING.map((column) => [column, sql`coalesce(${param(column)}, ${sql.ref(column)})`])))
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

export const PRUNE_FIRES = compile<{ readonly before: number; readonly limit: number }, unknown>((param, dialect) => {
  const over = sql`select ${sql.ref(dialect.rowId)} from trigger_fires
    where created_at < ${param('before')} and status <> 'pending' and status <> 'started'
    limit ${param('limit')}`
  return sql`delete from trigger_fires where ${dialect.isSelected(dialect.rowId, over)}`
})

const toChangedColumns = ({ status, firedAt, runId, reason }: FireChange): ChangedColumns => ({
  status,
  fired_at: firedAt ?? null,
  run_id: runId ?? null,
  reason: reason ?? null,
})
