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
import type { Connection } from '../file/connection.ts'
import { compile, from } from '../query/compile.ts'
import type { RunTable } from '../query/schema.ts'
import { freeHeldSlots } from './lane-store.ts'
import { runKeyOfNew } from './run-keys.ts'
import { activeRunOfThread, findAnyRun } from './run-store.ts'
import type { Transaction, WriteAppliers } from './write-applier.ts'

export const runWrites: WriteAppliers<
  'run.insert' | 'run.transition' | 'run.charge' | 'run.fence' | 'run.followed-up'
> = {
  'run.insert'(tx, { type, run, labels }) {
    const key = runKeyOfNew(tx, run.id)
    const { changes } = tx.db.run(insertRun, { ...toRunRow(run), key })
    if (changes !== 1) return { type, ...takenBy(tx.db, run) }
    insertFields(tx, key, [...startFields(run, labels), ...endFields(run)])
    return 1
  },
  'run.transition'(tx, { type, runId, from: statuses, attempt, execution, startAt, change, needsFollowUp }) {
    const { db } = tx
    const state = readState(tx, runId)
    if (state?.attempt !== attempt || !isExecution(state, execution) || !statuses.includes(state.status)) {
      return { type, current: findAnyRun(db, runId) }
    }
    if (startAt !== undefined && db.get(selectStartAt, { key: state.key })?.start_at !== startAt) {
      return { type, current: findAnyRun(db, runId) }
    }
    const { status = state.status } = change
    if (state.status === 'running' && status !== 'running') freeHeldSlots(db, runId)
    insertFields(tx, state.key, endFields(change))
    if (needsFollowUp === true) db.run(markForFollowUp, { key: state.key })
    const begun = state.status !== 'running' && status === 'running' ? 1 : 0
    return db.run(updateRun, { key: state.key, begun, ...toChangedColumns(change) }).changes
  },
  'run.followed-up': ({ db }, { runId }) => db.run(REMOVE_FOLLOW_UP, { runId }).changes,
  'run.charge'({ db }, { runId, usage }) {
    const row = db.get(selectUsage, { runId })
    if (row === undefined) return 0
    const sum = sumUsage({ ...NO_USAGE, ...(JSON.parse(row.usage) as RunUsage) }, usage)
    return db.run(updateUsage, { key: row.key, usage: JSON.stringify(sum) }).changes
  },
  'run.fence'(tx, { type, runId, attempt, execution }) {
    const state = readState(tx, runId)
    const isCurrent = state?.attempt === attempt && isExecution(state, execution)
    return isCurrent && state.status === 'running' ? 0 : { type, current: findAnyRun(tx.db, runId) }
  },
}

/** The run because of which another run could not be inserted. */
function takenBy(db: Connection, { id, targetId, threadId = '' }: RunRecord): Omit<InsertConflict, 'type'> {
  const current = findAnyRun(db, id)
  if (current !== undefined) return { current }
  return { reason: 'thread', current: activeRunOfThread(db, { workflowId: targetId, threadId }) }
}

type InsertConflict = Extract<Conflict, { readonly type: 'run.insert' }>

const isExecution = (state: Pick<RunRow, 'execution'>, execution: number | undefined): boolean =>
  execution === undefined || state.execution === execution

function insertFields({ db }: Transaction, key: number, fields: readonly RunField[]): void {
  for (const [field, value] of fields) db.run(insertField, { key, field, value })
}

function readState(tx: Transaction, runId: string) {
  const state = tx.db.get(selectState, { runId })
  if (state !== undefined) tx.lastRun = { id: runId, key: state.key }
  return state
}

const CHANGING = [
  'status',
  'finish_reason',
  'input',
  'result',
  'error',
  'usage',
  'attempt',
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

/** `null` leaves the column unchanged; it removes the `executor` of a run that is no longer `running`. */
type ChangedColumns = { readonly [Column in (typeof CHANGING)[number] | 'executor']: RunRow[Column] | null }

const insertRun = compile<RunTable, unknown>((param) =>
  from
    .insertInto('runs')
    .values(paramsFor(param, ['key', ...RUN_COLUMNS]))
    .onConflict((conflict) => conflict.doNothing()),
)

const insertField = compile<{ key: number; field: string; value: string }, unknown>((param) =>
  from
    .insertInto('run_fields')
    .columns(['field', 'value', 'run_at', 'run_key'])
    .expression((eb) =>
      eb
        .selectFrom('runs')
        .select([param('field').as('field'), param('value').as('value'), 'created_at', 'key'])
        .where('key', '=', param('key')),
    )
    .onConflict((conflict) => conflict.doNothing()),
)

const markForFollowUp = compile<{ key: number }, unknown>((param) =>
  from
    .insertInto('run_follow_ups')
    .values({ run_key: param('key') })
    .onConflict((conflict) => conflict.doNothing()),
)

export const REMOVE_FOLLOW_UP = compile<{ runId: string }, unknown>((param) =>
  from
    .deleteFrom('run_follow_ups')
    .where('run_key', '=', from.selectFrom('run_keys').select('key').where('run_id', '=', param('runId'))),
)

const selectState = compile<{ runId: string }, Pick<RunTable, 'key' | 'status' | 'attempt' | 'execution'>>((param) =>
  from
    .selectFrom('runs')
    .select(['key', 'status', 'attempt', 'execution'])
    .where('key', '=', from.selectFrom('run_keys').select('key').where('run_id', '=', param('runId'))),
)

const selectStartAt = compile<{ key: number }, Pick<RunRow, 'start_at'>>((param) =>
  from.selectFrom('runs').select('start_at').where('key', '=', param('key')),
)

const selectUsage = compile<{ runId: string }, Pick<RunTable, 'key' | 'usage'>>((param) =>
  from
    .selectFrom('runs')
    .select(['key', 'usage'])
    .where('key', '=', from.selectFrom('run_keys').select('key').where('run_id', '=', param('runId'))),
)

const updateUsage = compile<{ key: number; usage: string }, unknown>((param) =>
  from
    .updateTable('runs')
    .set({ usage: param('usage') })
    .where('key', '=', param('key')),
)

const updateRun = compile<ChangedColumns & { key: number; begun: 0 | 1 }, unknown>((param) =>
  from
    .updateTable('runs')
    .set({
      ...Object.fromEntries(CHANGING.map((column) => [column, sql`coalesce(${param(column)}, ${sql.ref(column)})`])),
      execution: sql`execution + ${param('begun')}`,
      executor: sql`coalesce(${param('executor')}, iif(${param('status')} <> 'running', null, executor))`,
    })
    .where('key', '=', param('key')),
)

const toChangedColumns = (change: RunChange): ChangedColumns => ({
  ...toChangedContent(change),
  status: change.status ?? null,
  finish_reason: change.finishReason ?? null,
  error: change.error === undefined ? null : JSON.stringify(change.error),
  usage: change.usage === undefined ? null : JSON.stringify(change.usage),
  attempt: change.attempt ?? null,
  executor: change.executor ?? null,
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

const toChangedContent = ({ input, result, suspension, resumption }: Pick<RunChange, RunContent>) => ({
  input: input ?? null,
  result: result ?? null,
  suspension: suspension ?? null,
  resumption: resumption ?? null,
})
