import type { StepChange, StepRecord } from '@perdure/ports'
import { sql } from 'kysely'
import type { Connection } from './connection.ts'
import { compile, from, placesFor } from './query.ts'
import { runKey } from './run-keys.ts'
import type { StepTable } from './schema.ts'
import { findStep, type StepPlace } from './step-store.ts'
import type { WriteAppliers } from './write-applier.ts'

export const stepWrites: WriteAppliers<'step.insert' | 'step.change' | 'step.fence'> = {
  'step.insert'(tx, { type, step }) {
    const { changes } = tx.db.run(insertStep, toRow(step, runKey(tx, step.runId)))
    return changes === 1 ? 1 : { type, current: findStep(tx.db, step) }
  },
  'step.change'({ db }, { type, runId, seq, from: status, change }) {
    const state = db.get(selectState, { runId, seq })
    if (state?.status !== status) return { type, current: findStep(db, { runId, seq }) }
    const order = isSettlement(change) ? nextOrder(db, state.run_key) : null
    return db.run(updateStep, { key: state.key, order, ...toChangedColumns(change) }).changes
  },
  'step.fence'({ db }, { type, runId, seqs }) {
    const first = seqs.find((seq) => db.get(selectState, { runId, seq })?.status !== 'waiting')
    return first === undefined ? 0 : { type, current: findStep(db, { runId, seq: first }) }
  },
}

type NewStepRow = Omit<StepTable, 'key'>

const isSettlement = ({ status }: StepChange): boolean => status === 'completed' || status === 'failed'

const nextOrder = (db: Connection, runKey: number): number => (db.get(LAST_ORDER, { runKey })?.order ?? 0) + 1

const COLUMNS = [
  'run_key',
  'seq',
  'kind',
  'name',
  'status',
  'attempt',
  'order',
  'due_at',
  'event_name',
  'approval_id',
  'child_run_id',
  'started_at',
  'settled_at',
  'error',
  'result',
  'usage',
] as const

const CHANGING = [
  'status',
  'attempt',
  'order',
  'due_at',
  'approval_id',
  'settled_at',
  'error',
  'result',
  'usage',
] as const

/** A `null` leaves the column as it is. */
type ChangedColumns = { readonly [Column in (typeof CHANGING)[number]]: NewStepRow[Column] | null }

const insertStep = compile<NewStepRow, unknown>((place) =>
  from
    .insertInto('steps')
    .values(placesFor(place, COLUMNS))
    .onConflict((conflict) => conflict.columns(['run_key', 'seq']).doNothing()),
)

const selectState = compile<StepPlace, { key: number; run_key: number; status: StepTable['status'] }>((place) =>
  from
    .selectFrom('steps')
    .select(['key', 'run_key', 'status'])
    .where('run_key', '=', from.selectFrom('run_keys').select('key').where('run_id', '=', place('runId')))
    .where('seq', '=', place('seq')),
)

export const LAST_ORDER = compile<{ runKey: number }, { order: number | null }>((place) =>
  from
    .selectFrom('steps')
    .select('order')
    .where('run_key', '=', place('runKey'))
    .where('order', 'is not', null)
    .orderBy('order', 'desc')
    .limit((eb) => eb.lit(1)),
)

const updateStep = compile<ChangedColumns & { key: number }, unknown>((place) =>
  from
    .updateTable('steps')
    .set(Object.fromEntries(CHANGING.map((column) => [column, sql`coalesce(${place(column)}, ${sql.ref(column)})`])))
    .where('key', '=', place('key')),
)

const toChangedColumns = (change: StepChange): Omit<ChangedColumns, 'order'> => ({
  status: change.status ?? null,
  attempt: change.attempt ?? null,
  due_at: change.dueAt ?? null,
  approval_id: change.approvalId ?? null,
  settled_at: change.settledAt ?? null,
  error: change.error === undefined ? null : JSON.stringify(change.error),
  result: change.result ?? null,
  usage: change.usage === undefined ? null : JSON.stringify(change.usage),
})

const toRow = (step: StepRecord, runKey: number): NewStepRow => ({
  run_key: runKey,
  seq: step.seq,
  kind: step.kind,
  name: step.name,
  status: step.status,
  attempt: step.attempt,
  order: step.order ?? null,
  due_at: step.dueAt ?? null,
  event_name: step.eventName ?? null,
  approval_id: step.approvalId ?? null,
  child_run_id: step.childRunId ?? null,
  started_at: step.startedAt,
  settled_at: step.settledAt ?? null,
  error: step.error === undefined ? null : JSON.stringify(step.error),
  result: step.result ?? null,
  usage: step.usage === undefined ? null : JSON.stringify(step.usage),
})
