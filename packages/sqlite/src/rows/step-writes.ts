import type { StepChange } from '@perdure/ports'
import { paramsFor, STEP_COLUMNS, type StepRow, toStepRow } from '@perdure/sql'
import { sql } from 'kysely'
import type { Connection } from '../file/connection.ts'
import { compile, from } from '../query/compile.ts'
import type { StepTable } from '../query/schema.ts'
import { runKey } from './run-keys.ts'
import { findStep, type StepRef } from './step-store.ts'
import type { WriteAppliers } from './write-applier.ts'

export const stepWrites: WriteAppliers<'step.insert' | 'step.change' | 'step.fence'> = {
  'step.insert'(tx, { type, step }) {
    const { changes } = tx.db.run(insertStep, { ...toStepRow(step), run_key: runKey(tx, step.runId) })
    return changes === 1 ? 1 : { type, current: findStep(tx.db, step) }
  },
  'step.change'({ db }, { type, runId, seq, from: status, change }) {
    const state = db.get(selectState, { runId, seq })
    if (state?.status !== status) return { type, current: findStep(db, { runId, seq }) }
    if (change.status === 'started') db.run(removeEnd, { key: state.key })
    const order = endsStep(change) ? nextOrder(db, state.run_key) : null
    return db.run(updateStep, { key: state.key, order, ...toChangedColumns(change) }).changes
  },
  'step.fence'({ db }, { type, runId, seqs }) {
    const first = seqs.find((seq) => db.get(selectState, { runId, seq })?.status !== 'waiting')
    return first === undefined ? 0 : { type, current: findStep(db, { runId, seq: first }) }
  },
}

const endsStep = ({ status }: StepChange): boolean => status === 'completed' || status === 'failed'

const nextOrder = (db: Connection, runKey: number): number => (db.get(LAST_ORDER, { runKey })?.order ?? 0) + 1

const CHANGING = [
  'status',
  'attempt',
  'recoveries',
  'order',
  'due_at',
  'event_name',
  'approval_id',
  'asked_hash',
  'settled_at',
  'error',
  'result',
  'usage',
] as const

/** `null` leaves the column unchanged. */
type ChangedColumns = { readonly [Column in (typeof CHANGING)[number]]: StepRow[Column] | null }

const insertStep = compile<StepRow & { run_key: number }, unknown>((param) =>
  from
    .insertInto('steps')
    .values(paramsFor(param, ['run_key', ...STEP_COLUMNS]))
    .onConflict((conflict) => conflict.columns(['run_key', 'seq']).doNothing()),
)

const selectState = compile<StepRef, { key: number; run_key: number; status: StepTable['status'] }>((param) =>
  from
    .selectFrom('steps')
    .select(['key', 'run_key', 'status'])
    .where('run_key', '=', from.selectFrom('run_keys').select('key').where('run_id', '=', param('runId')))
    .where('seq', '=', param('seq')),
)

export const LAST_ORDER = compile<{ runKey: number }, { order: number | null }>((param) =>
  from
    .selectFrom('steps')
    .select('order')
    .where('run_key', '=', param('runKey'))
    .where('order', 'is not', null)
    .orderBy('order', 'desc')
    .limit((eb) => eb.lit(1)),
)

const updateStep = compile<ChangedColumns & { key: number }, unknown>((param) =>
  from
    .updateTable('steps')
    .set(Object.fromEntries(CHANGING.map((column) => [column, sql`coalesce(${param(column)}, ${sql.ref(column)})`])))
    .where('key', '=', param('key')),
)

const removeEnd = compile<{ key: number }, unknown>((param) =>
  from
    .updateTable('steps')
    .set({ result: null, error: null, due_at: null, settled_at: null, order: null })
    .where('key', '=', param('key')),
)

const toChangedColumns = (change: StepChange): Omit<ChangedColumns, 'order'> => ({
  status: change.status ?? null,
  attempt: change.attempt ?? null,
  recoveries: change.recoveries ?? null,
  due_at: change.dueAt ?? null,
  event_name: change.eventName ?? null,
  approval_id: change.approvalId ?? null,
  asked_hash: change.askedHash ?? null,
  settled_at: change.endedAt ?? null,
  error: change.error === undefined ? null : JSON.stringify(change.error),
  result: change.result ?? null,
  usage: change.usage === undefined ? null : JSON.stringify(change.usage),
})
