import type { StepChange } from '@perdure/ports'
import { type RawBuilder, sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile, paramsFor } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import type { Changes, RowIn } from '../query/record-table.ts'
import { setGiven } from '../query/table-queries.ts'
import { enterRun } from '../runs/enter-run.ts'
import type { WriteAppliers, WritesOf } from '../transaction.ts'
import { STEPS, type StepRow, toStepRow } from './step-row.ts'
import { type StepRef, stepReads } from './step-store.ts'

export const stepWrites: WriteAppliers<WritesOf<'step'>> = {
  *'step.insert'({ db }, { type, step }) {
    yield* enterRun(db, step.runId)
    const changes = yield* db.run(insertStep, toStepRow(step))
    return changes === 1 ? 1 : { type, current: yield* stepReads.find(db, step.runId, step.seq) }
  },
  *'step.copy'({ db }, { type, runId, attempt, source, calls }) {
    yield* enterRun(db, runId)
    for (const { seq, endOrder } of calls) {
      const changes = yield* db.run(copyStep, { runId, attempt, source, seq, endOrder })
      if (changes !== 1) return { type, current: yield* stepReads.find(db, runId, seq) }
    }
    return calls.length
  },
  *'step.change'({ db }, { type, runId, seq, from: status, change }) {
    if (db.dialect.locksRows) yield* db.run(LOCK_RUN, { runId })
    const state = yield* db.get(SELECT_STATE, { runId, seq })
    if (state?.status !== status) return { type, current: yield* stepReads.find(db, runId, seq) }
    if (change.status === 'started') yield* db.run(removeEnd, { key: state.key })
    const order = endsStep(change) ? yield* nextOrder(db, runId) : null
    return yield* db.run(updateStep, { key: state.key, order, ...toChangedStepColumns(change) })
  },
  *'step.fence'({ db }, { type, runId, seqs }) {
    for (const seq of seqs) {
      const state = yield* db.get(SELECT_STATE, { runId, seq })
      if (state?.status !== 'waiting') return { type, current: yield* stepReads.find(db, runId, seq) }
    }
    return 0
  },
}

export const endsStep = ({ status }: StepChange): boolean => status === 'completed' || status === 'failed'

/** Every transaction that ends calls of a run locks the run first, so that each end gets its own number. */
const LOCK_RUN = compile<{ runId: string }, unknown>((param) =>
  from.selectFrom('runs').select('id').where('id', '=', param('runId')).forNoKeyUpdate(),
)

function* nextOrder(db: Db, runId: string): Program<number> {
  return ((yield* db.get(LAST_ORDER, { runId }))?.order ?? 0) + 1
}

/** What a change can set; `null` leaves a column unchanged. */
export const STEP_CHANGES = STEPS.only(
  'status',
  'attempt',
  'recoveries',
  'endOrder',
  'dueAt',
  'eventName',
  'approvalId',
  'askedHash',
  'endedAt',
  'error',
  'result',
  'resultFile',
  'usage',
)

export type ChangedStepColumns = Changes<RowIn<typeof STEP_CHANGES>>

const insertStep = compile<StepRow, unknown>((param, { run }) =>
  from
    .insertInto('steps')
    .values({ ...paramsFor(param, STEPS.columns), [run.column]: run.of(param('run_id')) } as never)
    .onConflict((conflict) => conflict.columns([run.column, 'seq']).doNothing()),
)

interface CopiedStep extends StepRef {
  readonly source: string
  readonly attempt: number
  readonly endOrder: number
}

const copyStep = compile<CopiedStep, unknown>((param, { run }) => {
  const changed: Partial<Record<keyof StepRow, RawBuilder<unknown>>> = {
    attempt: sql`cast(${param('attempt')} as integer)`,
    order: sql`cast(${param('endOrder')} as integer)`,
    usage: sql`null`,
  }
  const columns = sql.join(STEPS.columns.map((column) => sql.ref(column)))
  const values = sql.join(STEPS.columns.map((column) => changed[column] ?? sql.ref(column)))
  const runColumn = sql.ref(run.column)
  return sql`insert into steps (${runColumn}, ${columns}) select ${run.of(param('runId'))}, ${values} from steps
    where ${runColumn} = ${run.of(param('source'))} and seq = ${param('seq')}
    on conflict (${runColumn}, seq) do nothing`
})

const SELECT_STATE = compile<StepRef, { key: number; status: StepRow['status'] }>((param, { run, locksRows }) =>
  from
    .selectFrom('steps')
    .select(['key', 'status'])
    .where(run.column, '=', run.of(param('runId')))
    .where('seq', '=', param('seq'))
    .$if(locksRows, (query) => query.forUpdate()),
)

export const LAST_ORDER = compile<{ runId: string }, { order: number | null }>((param, { run }) =>
  from
    .selectFrom('steps')
    .select('order')
    .where(run.column, '=', run.of(param('runId')))
    .where('order', 'is not', null)
    .orderBy('order', 'desc')
    .limit((eb) => eb.lit(1)),
)

const updateStep = compile<ChangedStepColumns & { key: number }, unknown>((param) =>
  from.updateTable('steps').set(setGiven(param, STEP_CHANGES.columns)).where('key', '=', param('key')),
)

const removeEnd = compile<{ key: number }, unknown>((param) =>
  from
    .updateTable('steps')
    .set({ result: null, result_file: null, error: null, due_at: null, settled_at: null, order: null })
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
  result_file: change.resultFile === undefined ? null : JSON.stringify(change.resultFile),
  usage: change.usage === undefined ? null : JSON.stringify(change.usage),
})
