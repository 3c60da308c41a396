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
import { paramsFor, RUN_COLUMNS, type RunRow, toRunRow } from '@perdure/sql'
import { sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { compile, from } from '../query/compile.ts'
import { indexedValue } from './indexed-words.ts'
import { freeHeldSlots } from './lane-store.ts'
import { activeRunOfThread, findAnyRun } from './run-store.ts'
import type { WriteAppliers } from './write-applier.ts'

export const runWrites: WriteAppliers<
  'run.insert' | 'run.transition' | 'run.charge' | 'run.fence' | 'run.followed-up'
> = {
  async 'run.insert'({ db }, { type, run, labels }) {
    const { changes } = await db.run(insertRun, toRunRow(run))
    if (changes !== 1) return { type, ...(await takenBy(db, run)) }
    await insertFields(db, run.id, [...startFields(run, labels), ...endFields(run)])
    return 1
  },
  async 'run.transition'({ db }, { type, runId, from: statuses, attempt, execution, startAt, change, needsFollowUp }) {
    const state = await db.get(LOCK_RUN, { runId })
    const isExpected =
      state !== undefined &&
      state.attempt === attempt &&
      isExecution(state, execution) &&
      statuses.includes(state.status) &&
      (startAt === undefined || state.start_at === startAt)
    if (!isExpected) return { type, current: await findAnyRun(db, runId) }
    if (state.status === 'running' && (change.status ?? 'running') !== 'running') await freeHeldSlots(db, runId)
    await insertFields(db, runId, endFields(change))
    if (needsFollowUp === true) await db.run(MARK_FOR_FOLLOW_UP, { runId })
    return (await db.run(updateRun, { id: runId, ...toChangedRunColumns(change, state) })).changes
  },
  'run.followed-up': async ({ db }, { runId }) => (await db.run(REMOVE_FOLLOW_UP, { runId })).changes,
  async 'run.charge'({ db }, { runId, usage }) {
    const row = await db.get(LOCK_USAGE, { runId })
    if (row === undefined) return 0
    const sum = sumUsage({ ...NO_USAGE, ...(JSON.parse(row.usage) as RunUsage) }, usage)
    return (await db.run(updateUsage, { id: runId, usage: JSON.stringify(sum) })).changes
  },
  async 'run.fence'({ db }, { type, runId, attempt, execution }) {
    const state = await db.get(LOCK_RUN, { runId })
    const isCurrent = state?.attempt === attempt && isExecution(state, execution)
    return isCurrent && state.status === 'running' ? 0 : { type, current: await findAnyRun(db, runId) }
  },
}

/** The run because of which another run could not be inserted. */
async function takenBy(
  db: Connection,
  { id, targetId, threadId = '' }: RunRecord,
): Promise<Omit<InsertConflict, 'type'>> {
  const current = await findAnyRun(db, id)
  if (current !== undefined) return { current }
  return { reason: 'thread', current: await activeRunOfThread(db, { workflowId: targetId, threadId }) }
}

type InsertConflict = Extract<Conflict, { readonly type: 'run.insert' }>

const isExecution = (state: Pick<RunRow, 'execution'>, execution: number | undefined): boolean =>
  execution === undefined || state.execution === execution

async function insertFields(db: Connection, id: string, fields: readonly RunField[]): Promise<void> {
  for (const [field, value] of fields) await db.run(insertField, { id, field, value: indexedValue(value) })
}

export const CHANGING_RUN_COLUMNS = [
  'status',
  'finish_reason',
  'input',
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
  'start_at',
  'deadline_at',
  'retries',
  'abort_reason',
  'started_at',
  'suspended_at',
  'completed_at',
] as const

/** Removes the executor of a run. */
export const NO_EXECUTOR = ''

/** `null` leaves the column unchanged. */
export type ChangedRunColumns = { readonly [Column in (typeof CHANGING_RUN_COLUMNS)[number]]: RunRow[Column] | null }

const insertRun = compile<RunRow, unknown>((param) =>
  from
    .insertInto('runs')
    .values(paramsFor(param, RUN_COLUMNS))
    .onConflict((conflict) => conflict.doNothing()),
)

const MARK_FOR_FOLLOW_UP = compile<{ runId: string }, unknown>((param) =>
  from
    .insertInto('run_follow_ups')
    .values({ run_id: param('runId') })
    .onConflict((conflict) => conflict.doNothing()),
)

export const REMOVE_FOLLOW_UP = compile<{ runId: string }, unknown>((param) =>
  from.deleteFrom('run_follow_ups').where('run_id', '=', param('runId')),
)

const insertField = compile<{ id: string; field: string; value: string }, unknown>((param) => ({
  compile: () =>
    sql`insert into run_fields (field, value, run_at, run_id)
      select ${param('field')}, ${param('value')}, created_at, id from runs where id = ${param('id')}
      on conflict do nothing`.compile(from),
}))

type RunState = Pick<RunRow, 'status' | 'attempt' | 'execution' | 'start_at'>

/** Reads what a transition depends on, and keeps other transactions from changing it. */
const LOCK_RUN = compile<{ runId: string }, RunState>((param) =>
  from
    .selectFrom('runs')
    .select(['status', 'attempt', 'execution', 'start_at'])
    .where('id', '=', param('runId'))
    .forNoKeyUpdate(),
)

const LOCK_USAGE = compile<{ runId: string }, Pick<RunRow, 'usage'>>((param) =>
  from.selectFrom('runs').select('usage').where('id', '=', param('runId')).forNoKeyUpdate(),
)

const updateUsage = compile<{ id: string; usage: string }, unknown>((param) =>
  from
    .updateTable('runs')
    .set({ usage: param('usage') })
    .where('id', '=', param('id')),
)

const updateRun = compile<ChangedRunColumns & { id: string }, unknown>((param) =>
  from
    .updateTable('runs')
    .set({
      ...Object.fromEntries(
        CHANGING_RUN_COLUMNS.map((column) => [column, sql`coalesce(${param(column)}, ${sql.ref(column)})`]),
      ),
      executor: sql`nullif(coalesce(${param('executor')}, executor), ${sql.lit(NO_EXECUTOR)})`,
    })
    .where('id', '=', param('id')),
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
  started_at: change.startedAt ?? null,
  suspended_at: change.suspendedAt ?? null,
  completed_at: change.completedAt ?? null,
})

type ExecutionState = Pick<RunRow, 'status' | 'execution'>

const toChangedExecution = ({ status, executor }: RunChange, state: ExecutionState) => ({
  execution: state.status !== 'running' && status === 'running' ? state.execution + 1 : null,
  executor: executor ?? ((status ?? 'running') === 'running' ? null : NO_EXECUTOR),
})

const toChangedContent = ({ input, result, suspension, resumption }: Pick<RunChange, RunContent>) => ({
  input: input ?? null,
  result: result ?? null,
  suspension: suspension ?? null,
  resumption: resumption ?? null,
})
