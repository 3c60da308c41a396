import type { StepChange } from '@perdure/ports'
import { paramsFor, STEP_COLUMNS, type StepRow, toStepRow } from '@perdure/sql'
import { sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { compile, from } from '../query/compile.ts'
import type { StepTable } from '../query/schema.ts'
import { findStep, type StepRef } from './step-store.ts'
import type { WriteAppliers } from './write-applier.ts'

export const stepWrites: WriteAppliers<'step.insert' | 'step.change' | 'step.fence'> = {
  async 'step.insert'(tx, { type, step }) {
    const { changes } = await tx.db.run(insertStep, toStepRow(step))
    return changes === 1 ? 1 : { type, current: await findStep(tx.db, step) }
  },
  async 'step.change'({ db }, { type, runId, seq, from: status, change }) {
    await lockRun(db, runId)
    const state = await db.get(selectState, { runId, seq })
    if (state?.status !== status) return { type, current: await findStep(db, { runId, seq }) }
    if (change.status === 'started') await db.run(removeEnd, { key: state.key })
    const order = endsStep(change) ? await nextOrder(db, state.run_id) : null
    return (await db.run(updateStep, { key: state.key, order, ...toChangedStepColumns(change) })).changes
  },
  async 'step.fence'({ db }, { type, runId, seqs }) {
    for (const seq of seqs) {
      const state = await db.get(selectState, { runId, seq })
      if (state?.status !== 'waiting') return { type, current: await findStep(db, { runId, seq }) }
    }
    return 0
  },
}

export const endsStep = ({ status }: StepChange): boolean => status === 'completed' || status === 'failed'

/** Every transaction that ends calls of a run locks the run first, so that each end gets its own number. */
const lockRun = async (db: Connection, runId: string): Promise<void> => void (await db.run(LOCK_RUN, { runId }))

const LOCK_RUN = compile<{ runId: string }, unknown>((param) =>
  from.selectFrom('runs').select('id').where('id', '=', param('runId')).forNoKeyUpdate(),
)

const nextOrder = async (db: Connection, runId: string): Promise<number> =>
  ((await db.get(LAST_ORDER, { runId }))?.order ?? 0) + 1

export const CHANGING_STEP_COLUMNS = [
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
export type ChangedStepColumns = {
  readonly [Column in (typeof CHANGING_STEP_COLUMNS)[number]]: StepRow[Column] | null
}

const insertStep = compile<StepRow, unknown>((param) =>
  from
    .insertInto('steps')
    .values(paramsFor(param, ['run_id', ...STEP_COLUMNS]))
    .onConflict((conflict) => conflict.columns(['run_id', 'seq']).doNothing()),
)

const selectState = compile<StepRef, { key: number; run_id: string; status: StepTable['status'] }>((param) =>
  from
    .selectFrom('steps')
    .select(['key', 'run_id', 'status'])
    .where('run_id', '=', param('runId'))
    .where('seq', '=', param('seq'))
    .forUpdate(),
)

export const LAST_ORDER = compile<{ runId: string }, { order: number | null }>((param) =>
  from
    .selectFrom('steps')
    .select('order')
    .where('run_id', '=', param('runId'))
    .where('order', 'is not', null)
    .orderBy('order', 'desc')
    .limit((eb) => eb.lit(1)),
)

const updateStep = compile<ChangedStepColumns & { key: number }, unknown>((param) =>
  from
    .updateTable('steps')
    .set(
      Object.fromEntries(
        CHANGING_STEP_COLUMNS.map((column) => [column, sql`coalesce(${param(column)}, ${sql.ref(column)})`]),
      ),
    )
    .where('key', '=', param('key')),
)

const removeEnd = compile<{ key: number }, unknown>((param) =>
  from
    .updateTable('steps')
    .set({ result: null, error: null, due_at: null, settled_at: null, order: null })
    .where('key', '=', param('key')),
)

export const toChangedStepColumns = (change: StepChange): Omit<ChangedStepColumns, 'order'> => ({
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
