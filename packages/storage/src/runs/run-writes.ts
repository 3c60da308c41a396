import {
  type Conflict,
  endFields,
  NO_USAGE,
  type RunChange,
  type RunContent,
  type RunField,
  type RunRecord,
  type RunUsage,
  startFields,
  sumUsage,
} from '@perdure/ports'
import { ACTIVE_RUN_STATUSES } from '@perdure/protocol'
import { type RawBuilder, sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile, type Param, paramsFor } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import type { Changes, RowIn } from '../query/record-table.ts'
import { setGiven } from '../query/table-queries.ts'
import type { WriteAppliers, WriteOf, WritesOf } from '../transaction.ts'
import { enterRun } from './enter-run.ts'
import { freeHeldSlots } from './lane-store.ts'
import { isOneOf } from './run-filter.ts'
import { RUN_COLUMNS, RUNS, type RunRow, toRunRow } from './run-row.ts'
import { activeRunOfThread, findAnyRun } from './run-store.ts'

export const runWrites: WriteAppliers<Exclude<WritesOf<'run'>, 'run.admit' | 'run.prune'>> = {
  *'run.insert'({ db }, { type, run, labels }) {
    yield* enterRun(db, run.id)
    const changes = yield* db.run(insertRun, toRunRow(run))
    if (changes !== 1) return { type, ...(yield* takenBy(db, run)) }
    yield* insertFields(db, run.id, [...startFields(run, labels), ...endFields(run)])
    return 1
  },
  *'run.transition'({ db }, { type, runId, from: statuses, attempt, execution, startAt, change, needsFollowUp }) {
    const state = yield* db.get(LOCK_RUN, { runId })
    const isExpected =
      state !== undefined &&
      state.attempt === attempt &&
      isExecution(state, execution) &&
      statuses.includes(state.status) &&
      (startAt === undefined || (yield* db.get(SELECT_START, { runId }))?.start_at === startAt)
    if (!isExpected) return { type, current: yield* findAnyRun(db, runId) }
    if (state.status === 'running' && (change.status ?? 'running') !== 'running') yield* freeHeldSlots(db, runId)
    yield* insertFields(db, runId, endFields(change))
    if (needsFollowUp === true) yield* db.run(MARK_FOR_FOLLOW_UP, { runId })
    return yield* db.run(updateRun, { id: runId, ...toChangedRunColumns(change, state) })
  },
  *'run.followed-up'({ db }, { runId }) {
    return yield* db.run(REMOVE_FOLLOW_UP, { runId })
  },
  *'run.withdraw'({ db }, { sessionId, from: firstId, by }) {
    const first = yield* db.get(SELECT_TURN, { runId: firstId })
    if (first === undefined || first.session_id !== sessionId || first.parent_run_id !== null) return 0
    const range = { sessionId, by, createdAt: first.created_at, firstId }
    yield* db.run(MARK_WITHDRAWN, range)
    return yield* db.run(WITHDRAW, range)
  },
  *'run.interrupt'({ db }, { runId }) {
    return yield* db.run(MARK_IF_ACTIVE, { runId })
  },
  *'run.charge'({ db }, { runId, usage }) {
    const row = yield* db.get(LOCK_USAGE, { runId })
    if (row === undefined) return 0
    const sum = sumUsage({ ...NO_USAGE, ...(JSON.parse(row.usage) as RunUsage) }, usage)
    return yield* db.run(updateUsage, { id: runId, usage: JSON.stringify(sum) })
  },
  *'run.emit'({ db, append }, { events, ...fence }) {
    if (!passes(fence, yield* db.get(LOCK_RUN, fence))) return 0
    append(events)
    return events.length
  },
  *'run.fence'({ db }, { type, ...fence }) {
    const isPassed = passes(fence, yield* db.get(LOCK_RUN, fence))
    return isPassed ? 0 : { type, current: yield* findAnyRun(db, fence.runId) }
  },
}

/** The run because of which another run could not be inserted. */
function* takenBy(db: Db, { id, targetId, threadId = '' }: RunRecord): Program<Omit<InsertConflict, 'type'>> {
  const current = yield* findAnyRun(db, id)
  if (current !== undefined) return { current }
  return { reason: 'thread', current: yield* activeRunOfThread(db, { workflowId: targetId, threadId }) }
}

type InsertConflict = Extract<Conflict, { readonly type: 'run.insert' }>

const isExecution = (state: Pick<RunRow, 'execution'>, execution: number | undefined): boolean =>
  execution === undefined || state.execution === execution

type Fence = Omit<WriteOf<'run.fence'>, 'type'>

const passes = ({ attempt, execution }: Fence, state: Pick<RunRow, 'status' | 'attempt' | 'execution'> | undefined) =>
  state?.status === 'running' && state.attempt === attempt && isExecution(state, execution)

function* insertFields(db: Db, id: string, fields: readonly RunField[]): Program<void> {
  for (const [field, value] of fields) yield* db.run(insertField, { id, field, value: db.dialect.indexed(value) })
}

/** What a transition can set; `null` leaves a column unchanged. */
export const RUN_CHANGES = RUNS.only(
  'status',
  'finishReason',
  'input',
  'caller',
  'result',
  'error',
  'usage',
  'attempt',
  'execution',
  'executor',
  'suspension',
  'resumption',
  'parked',
  'flow',
  'startAt',
  'deadlineAt',
  'retries',
  'abortReason',
  'withdrawnBy',
  'startedAt',
  'suspendedAt',
  'completedAt',
)

/** Removes the executor of a run. */
export const NO_EXECUTOR = ''

export type ChangedRunColumns = Changes<RowIn<typeof RUN_CHANGES>>

const insertRun = compile<RunRow, unknown>((param, { run }) => {
  const values = paramsFor(param, RUN_COLUMNS)
  return from
    .insertInto('runs')
    .values(run.self === 'id' ? values : { ...values, key: run.of(param('id')) as RawBuilder<number> })
    .onConflict((conflict) => conflict.doNothing())
})

const MARK_FOR_FOLLOW_UP = compile<{ runId: string }, unknown>(
  (param, { run }) =>
    sql`insert into run_follow_ups (${sql.ref(run.column)}) values (${run.of(param('runId'))}) on conflict do nothing`,
)

export const REMOVE_FOLLOW_UP = compile<{ runId: string }, unknown>((param, { run }) =>
  from.deleteFrom('run_follow_ups').where(run.column, '=', run.of(param('runId'))),
)

const insertField = compile<{ id: string; field: string; value: string }, unknown>(
  (param, { run }) => sql`insert into run_fields (field, value, run_at, ${sql.ref(run.column)})
    select ${param('field')}, ${param('value')}, created_at, ${sql.ref(run.self)} from runs
    where ${sql.ref(run.self)} = ${run.of(param('id'))} on conflict do nothing`,
)

type RunState = Pick<RunRow, 'status' | 'attempt' | 'execution'>

/** Reads what a transition depends on, and keeps other transactions from changing it. */
const LOCK_RUN = compile<{ runId: string }, RunState>((param, { run, locksRows }) =>
  from
    .selectFrom('runs')
    .select(['status', 'attempt', 'execution'])
    .where(run.self, '=', run.of(param('runId')))
    .$if(locksRows, (query) => query.forNoKeyUpdate()),
)

/** A statement of its own, because SQLite reads the long texts of a run to reach this column. */
const SELECT_START = compile<{ runId: string }, Pick<RunRow, 'start_at'>>((param, { run }) =>
  from
    .selectFrom('runs')
    .select('start_at')
    .where(run.self, '=', run.of(param('runId'))),
)

const SELECT_TURN = compile<{ runId: string }, Pick<RunRow, 'session_id' | 'parent_run_id' | 'created_at'>>(
  (param, { run }) =>
    from
      .selectFrom('runs')
      .select(['session_id', 'parent_run_id', 'created_at'])
      .where(run.self, '=', run.of(param('runId'))),
)

interface WithdrawnRange {
  readonly sessionId: string
  readonly by: string
  readonly createdAt: number
  readonly firstId: string
}

const inRange = (param: Param<WithdrawnRange>) => sql`session_id = ${param('sessionId')}
  and coalesce(parent_run_id, '') = '' and withdrawn_by is null
  and (created_at, id) >= (${param('createdAt')}, ${param('firstId')}) and id <> ${param('by')}`

const WITHDRAW = compile<WithdrawnRange, unknown>(
  (param) => sql`update runs set withdrawn_by = ${param('by')} where ${inRange(param)}`,
)

const MARK_WITHDRAWN = compile<WithdrawnRange, unknown>(
  (param, { run }) => sql`insert into run_follow_ups (${sql.ref(run.column)})
    select ${sql.ref(run.self)} from runs where ${inRange(param)} and ${isOneOf(ACTIVE_RUN_STATUSES)}
    on conflict do nothing`,
)

const MARK_IF_ACTIVE = compile<{ runId: string }, unknown>(
  (param, { run }) => sql`insert into run_follow_ups (${sql.ref(run.column)})
    select ${sql.ref(run.self)} from runs where ${sql.ref(run.self)} = ${run.of(param('runId'))} and ${isOneOf(ACTIVE_RUN_STATUSES)}
    on conflict do nothing`,
)

const LOCK_USAGE = compile<{ runId: string }, Pick<RunRow, 'usage'>>((param, { run, locksRows }) =>
  from
    .selectFrom('runs')
    .select('usage')
    .where(run.self, '=', run.of(param('runId')))
    .$if(locksRows, (query) => query.forNoKeyUpdate()),
)

const updateUsage = compile<{ id: string; usage: string }, unknown>((param, { run }) =>
  from
    .updateTable('runs')
    .set({ usage: param('usage') })
    .where(run.self, '=', run.of(param('id'))),
)

const updateRun = compile<ChangedRunColumns & { id: string }, unknown>((param, { run }) =>
  from
    .updateTable('runs')
    .set({
      ...setGiven(param, RUN_CHANGES.columns),
      executor: sql`nullif(coalesce(${param('executor')}, executor), ${sql.lit(NO_EXECUTOR)})`,
    })
    .where(run.self, '=', run.of(param('id'))),
)

export const toChangedRunColumns = (change: RunChange, state: ExecutionState): ChangedRunColumns => ({
  ...toChangedContent(change),
  ...toChangedExecution(change, state),
  status: change.status ?? null,
  finish_reason: change.finishReason ?? null,
  error: change.error === undefined ? null : JSON.stringify(change.error),
  usage: change.usage === undefined ? null : JSON.stringify(change.usage),
  attempt: change.attempt ?? null,
  parked: change.parked ?? null,
  flow: change.flow === undefined ? null : JSON.stringify(change.flow),
  start_at: change.startAt ?? null,
  deadline_at: change.deadlineAt ?? null,
  retries: change.retries ?? null,
  abort_reason: change.abortReason ?? null,
  withdrawn_by: change.withdrawnBy ?? null,
  started_at: change.startedAt ?? null,
  suspended_at: change.suspendedAt ?? null,
  completed_at: change.completedAt ?? null,
})

type ExecutionState = Pick<RunRow, 'status' | 'execution'>

const toChangedExecution = ({ status, executor }: RunChange, state: ExecutionState) => ({
  execution: state.status !== 'running' && status === 'running' ? state.execution + 1 : null,
  executor: executor ?? ((status ?? 'running') === 'running' ? null : NO_EXECUTOR),
})

const toChangedContent = ({
  input,
  caller,
  result,
  suspension,
  resumption,
}: Pick<RunChange, RunContent | 'caller'>) => ({
  input: input ?? null,
  caller: caller ?? null,
  result: result ?? null,
  suspension: suspension ?? null,
  resumption: resumption ?? null,
})
