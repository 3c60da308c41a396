import type { FireChange, FireStatus } from '@perdure/ports'
import { FIRE_COLUMNS, type FireRow, paramsFor, toFireRow } from '@perdure/sql'
import { sql } from 'kysely'
import { compile, from } from '../query/compile.ts'
import { findFire, findOccurrence } from './fire-store.ts'
import { findTrigger } from './trigger-store.ts'
import type { WriteAppliers } from './write-applier.ts'

export const fireWrites: WriteAppliers<'fire.insert' | 'fire.change' | 'fire.end' | 'fire.prune'> = {
  async 'fire.insert'({ db }, { type, fire }) {
    if ((await findTrigger(db, fire.triggerId)) === undefined) return { type, current: await findFire(db, fire.id) }
    const { changes } = await db.run(insertFire, toFireRow(fire))
    return changes === 1 ? 1 : { type, current: (await findFire(db, fire.id)) ?? (await findOccurrence(db, fire)) }
  },
  async 'fire.change'({ db }, { type, id, from: status, change }) {
    const { changes } = await db.run(changeFire, { id, before: status, ...toChangedColumns(change) })
    return changes === 1 ? 1 : { type, current: await findFire(db, id) }
  },
  async 'fire.end'({ db }, { id, status, reason }) {
    const columns = toChangedColumns({ status, reason })
    const { changes } = await db.run(changeFire, { id, before: 'started', ...columns })
    if (changes === 1) await db.run(settleTrigger, { id, status })
    return changes
  },
  'fire.prune': async ({ db }, { before, limit }) => (await db.run(PRUNE_FIRES, { before, limit })).changes,
}

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

export const PRUNE_FIRES = compile<{ readonly before: number; readonly limit: number }, unknown>((param) => ({
  compile: () =>
    sql`delete from trigger_fires where id = any(array(
      select id from trigger_fires where created_at < ${param('before')} and status <> 'pending' and status <> 'started'
      limit ${param('limit')}))`.compile(from),
}))

const toChangedColumns = ({ status, firedAt, runId, reason }: FireChange): ChangedColumns => ({
  status,
  fired_at: firedAt ?? null,
  run_id: runId ?? null,
  reason: reason ?? null,
})
