import type { FireChange, FireRecord } from '@perdure/ports'
import { sql } from 'kysely'
import { findFire, findOccurrence } from './fire-store.ts'
import { compile, from, placesFor } from './query.ts'
import type { FireTable } from './schema.ts'
import { findTrigger } from './trigger-store.ts'
import type { WriteAppliers } from './write-applier.ts'

export const fireWrites: WriteAppliers<'fire.insert' | 'fire.change' | 'fire.settle' | 'fire.prune'> = {
  'fire.insert'({ db }, { type, fire }) {
    if (findTrigger(db, fire.triggerId) === undefined) return { type, current: findFire(db, fire.id) }
    const { changes } = db.run(insertFire, toRow(fire))
    return changes === 1 ? 1 : { type, current: findFire(db, fire.id) ?? findOccurrence(db, fire) }
  },
  'fire.change'({ db }, { type, id, from: status, change }) {
    const { changes } = db.run(changeFire, { id, before: status, ...toChangedColumns(change) })
    return changes === 1 ? 1 : { type, current: findFire(db, id) }
  },
  'fire.settle'({ db }, { id, status, reason }) {
    const columns = toChangedColumns({ status, reason })
    const { changes } = db.run(changeFire, { id, before: 'started', ...columns })
    if (changes === 1) db.run(settleTrigger, { id, status })
    return changes
  },
  'fire.prune': ({ db }, { before, limit }) => db.run(PRUNE_FIRES, { before, limit }).changes,
}

type NewFireRow = Omit<FireTable, 'key'>

const COLUMNS = [
  'id',
  'trigger_id',
  'scheduled_at',
  'cause',
  'status',
  'input',
  'fired_at',
  'run_id',
  'reason',
  'created_at',
] as const

const CHANGING = ['status', 'fired_at', 'run_id', 'reason'] as const

/** A `null` leaves the column as it is. */
type ChangedColumns = Pick<NewFireRow, (typeof CHANGING)[number]>

const insertFire = compile<NewFireRow, unknown>((place) =>
  from
    .insertInto('trigger_fires')
    .values(placesFor(place, COLUMNS))
    .onConflict((conflict) => conflict.doNothing()),
)

const changeFire = compile<ChangedColumns & { readonly id: string; readonly before: string }, unknown>((place) =>
  from
    .updateTable('trigger_fires')
    .set(Object.fromEntries(CHANGING.map((column) => [column, sql`coalesce(${place(column)}, ${sql.ref(column)})`])))
    .where('id', '=', place('id'))
    .where(sql<boolean>`status = ${place('before')}`),
)

const settleTrigger = compile<{ readonly id: string; readonly status: string }, unknown>((place) =>
  from
    .updateTable('triggers')
    .set({ last_status: sql`${place('status')}`, version: sql`version + 1` })
    .where('id', '=', (eb) => eb.selectFrom('trigger_fires').select('trigger_id').where('id', '=', place('id')))
    .where('last_fire_id', '=', place('id')),
)

export const PRUNE_FIRES = compile<{ readonly before: number; readonly limit: number }, unknown>((place) =>
  from
    .deleteFrom('trigger_fires')
    .where('key', 'in', (eb) =>
      eb
        .selectFrom('trigger_fires')
        .select('key')
        .where('created_at', '<', place('before'))
        .where(sql<boolean>`status <> 'pending' and status <> 'started'`)
        .limit(place('limit')),
    ),
)

const toChangedColumns = ({ status, firedAt, runId, reason }: FireChange): ChangedColumns => ({
  status,
  fired_at: firedAt ?? null,
  run_id: runId ?? null,
  reason: reason ?? null,
})

const toRow = (fire: FireRecord): NewFireRow => ({
  id: fire.id,
  trigger_id: fire.triggerId,
  scheduled_at: fire.scheduledAt,
  cause: fire.cause,
  status: fire.status,
  input: fire.input ?? null,
  fired_at: fire.firedAt ?? null,
  run_id: fire.runId ?? null,
  reason: fire.reason ?? null,
  created_at: fire.createdAt,
})
