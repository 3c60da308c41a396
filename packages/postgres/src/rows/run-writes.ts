import {
  endFields,
  NO_USAGE,
  type RunChange,
  type RunContent,
  type RunField,
  type RunUsage,
  startFields,
  sumUsage,
} from '@perdure/ports'
import { sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { compile, from, paramsFor } from '../query/compile.ts'
import type { RunTable } from '../query/schema.ts'
import { indexedValue } from './indexed-words.ts'
import { freeHeldSlots } from './lane-store.ts'
import { RUN_COLUMNS, toRunRow } from './run-row.ts'
import { findAnyRun } from './run-store.ts'
import type { WriteAppliers } from './write-applier.ts'

export const runWrites: WriteAppliers<'run.insert' | 'run.transition' | 'run.charge' | 'run.fence'> = {
  async 'run.insert'({ db }, { type, run, labels }) {
    const { changes } = await db.run(insertRun, toRunRow(run))
    if (changes !== 1) return { type, current: await findAnyRun(db, run.id) }
    await insertFields(db, run.id, [...startFields(run, labels), ...endFields(run)])
    return 1
  },
  async 'run.transition'({ db }, { type, runId, from: statuses, attempt, startAt, change }) {
    const state = await db.get(LOCK_RUN, { runId })
    const isExpected =
      state !== undefined &&
      state.attempt === attempt &&
      statuses.includes(state.status) &&
      (startAt === undefined || state.start_at === startAt)
    if (!isExpected) return { type, current: await findAnyRun(db, runId) }
    if (state.status === 'running' && (change.status ?? 'running') !== 'running') await freeHeldSlots(db, runId)
    await insertFields(db, runId, endFields(change))
    return (await db.run(updateRun, { id: runId, ...toChangedColumns(change) })).changes
  },
  async 'run.charge'({ db }, { runId, usage }) {
    const row = await db.get(LOCK_USAGE, { runId })
    if (row === undefined) return 0
    const sum = sumUsage({ ...NO_USAGE, ...(JSON.parse(row.usage) as RunUsage) }, usage)
    return (await db.run(updateUsage, { id: runId, usage: JSON.stringify(sum) })).changes
  },
  async 'run.fence'({ db }, { type, runId, attempt }) {
    const state = await db.get(LOCK_RUN, { runId })
    return state?.status === 'running' && state.attempt === attempt ? 0 : { type, current: await findAnyRun(db, runId) }
  },
}

async function insertFields(db: Connection, id: string, fields: readonly RunField[]): Promise<void> {
  for (const [field, value] of fields) await db.run(insertField, { id, field, value: indexedValue(value) })
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

/** `null` leaves the column unchanged. */
type ChangedColumns = { readonly [Column in (typeof CHANGING)[number]]: RunTable[Column] | null }

const insertRun = compile<RunTable, unknown>((param) =>
  from
    .insertInto('runs')
    .values(paramsFor(param, RUN_COLUMNS))
    .onConflict((conflict) => conflict.column('id').doNothing()),
)

const insertField = compile<{ id: string; field: string; value: string }, unknown>((param) => ({
  compile: () =>
    sql`insert into run_fields (field, value, run_at, run_id)
      select ${param('field')}, ${param('value')}, created_at, id from runs where id = ${param('id')}
      on conflict do nothing`.compile(from),
}))

type RunState = Pick<RunTable, 'status' | 'attempt' | 'start_at'>

/** Reads what a transition depends on, and keeps other transactions from changing it. */
const LOCK_RUN = compile<{ runId: string }, RunState>((param) =>
  from.selectFrom('runs').select(['status', 'attempt', 'start_at']).where('id', '=', param('runId')).forNoKeyUpdate(),
)

const LOCK_USAGE = compile<{ runId: string }, Pick<RunTable, 'usage'>>((param) =>
  from.selectFrom('runs').select('usage').where('id', '=', param('runId')).forNoKeyUpdate(),
)

const updateUsage = compile<{ id: string; usage: string }, unknown>((param) =>
  from
    .updateTable('runs')
    .set({ usage: param('usage') })
    .where('id', '=', param('id')),
)

const updateRun = compile<ChangedColumns & { id: string }, unknown>((param) =>
  from
    .updateTable('runs')
    .set(Object.fromEntries(CHANGING.map((column) => [column, sql`coalesce(${param(column)}, ${sql.ref(column)})`])))
    .where('id', '=', param('id')),
)

const toChangedColumns = (change: RunChange): ChangedColumns => ({
  ...toChangedContent(change),
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

const toChangedContent = ({ input, result, suspension, resumption }: Pick<RunChange, RunContent>) => ({
  input: input ?? null,
  result: result ?? null,
  suspension: suspension ?? null,
  resumption: resumption ?? null,
})
