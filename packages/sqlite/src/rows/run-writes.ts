import type { RunChange, RunRecord } from '@perdure/ports'
import { sql } from 'kysely'
import { compile, from, placesFor } from './query.ts'
import { runKeyOfNew } from './run-keys.ts'
import { findAnyRun } from './run-store.ts'
import type { RunTable } from './schema.ts'
import type { Transaction, WriteAppliers } from './write-applier.ts'

export const runWrites: WriteAppliers<'run.insert' | 'run.transition' | 'run.fence'> = {
  'run.insert'(tx, { type, run }) {
    const { changes } = tx.db.run(insertRun, toRow(run, runKeyOfNew(tx, run.id)))
    return changes === 1 ? 1 : { type, current: findAnyRun(tx.db, run.id) }
  },
  'run.transition'(tx, { type, runId, from: statuses, attempt, change }) {
    const { db } = tx
    const state = readState(tx, runId)
    if (state === undefined || state.attempt !== attempt || !statuses.includes(state.status)) {
      return { type, current: findAnyRun(db, runId) }
    }
    return db.run(updateRun, { key: state.key, ...toChangedColumns(change) }).changes
  },
  'run.fence'(tx, { type, runId, attempt }) {
    const state = readState(tx, runId)
    return state?.status === 'running' && state.attempt === attempt ? 0 : { type, current: findAnyRun(tx.db, runId) }
  },
}

function readState(tx: Transaction, runId: string) {
  const state = tx.db.get(selectState, { runId })
  if (state !== undefined) tx.lastRun = { id: runId, key: state.key }
  return state
}

const COLUMNS = [
  'key',
  'id',
  'kind',
  'target_id',
  'thread_id',
  'session_id',
  'owner',
  'user_id',
  'status',
  'finish_reason',
  'attempt',
  'timeout_ms',
  'parent_run_id',
  'trigger_id',
  'traceparent',
  'created_at',
  'started_at',
  'suspended_at',
  'completed_at',
  'usage',
  'metadata',
  'error',
  'input',
  'result',
  'depth',
  'parent_seq',
  'deadline_at',
  'budget',
  'suspension',
  'resumption',
] as const

const CHANGING = [
  'status',
  'finish_reason',
  'result',
  'error',
  'usage',
  'attempt',
  'suspension',
  'resumption',
  'started_at',
  'suspended_at',
  'completed_at',
] as const

/** A `null` leaves the column as it is. */
type ChangedColumns = { readonly [Column in (typeof CHANGING)[number]]: RunTable[Column] | null }

const insertRun = compile<RunTable, unknown>((place) =>
  from
    .insertInto('runs')
    .values(placesFor(place, COLUMNS))
    .onConflict((conflict) => conflict.column('key').doNothing()),
)

const selectState = compile<{ runId: string }, Pick<RunTable, 'key' | 'status' | 'attempt'>>((place) =>
  from
    .selectFrom('runs')
    .select(['key', 'status', 'attempt'])
    .where('key', '=', from.selectFrom('run_keys').select('key').where('run_id', '=', place('runId'))),
)

const updateRun = compile<ChangedColumns & { key: number }, unknown>((place) =>
  from
    .updateTable('runs')
    .set(Object.fromEntries(CHANGING.map((column) => [column, sql`coalesce(${place(column)}, ${sql.ref(column)})`])))
    .where('key', '=', place('key')),
)

const toChangedColumns = (change: RunChange): ChangedColumns => ({
  status: change.status ?? null,
  finish_reason: change.finishReason ?? null,
  result: change.result ?? null,
  error: change.error === undefined ? null : JSON.stringify(change.error),
  usage: change.usage === undefined ? null : JSON.stringify(change.usage),
  attempt: change.attempt ?? null,
  suspension: change.suspension ?? null,
  resumption: change.resumption ?? null,
  started_at: change.startedAt ?? null,
  suspended_at: change.suspendedAt ?? null,
  completed_at: change.completedAt ?? null,
})

const toRow = (run: RunRecord, key: number): RunTable => ({
  ...toOriginColumns(run),
  key,
  id: run.id,
  kind: run.kind,
  target_id: run.targetId,
  owner: run.owner,
  status: run.status,
  finish_reason: run.finishReason ?? null,
  attempt: run.attempt,
  timeout_ms: run.timeoutMs ?? null,
  deadline_at: run.deadlineAt ?? null,
  created_at: run.createdAt,
  started_at: run.startedAt ?? null,
  suspended_at: run.suspendedAt ?? null,
  completed_at: run.completedAt ?? null,
  usage: JSON.stringify(run.usage),
  budget: run.budget === undefined ? null : JSON.stringify(run.budget),
  metadata: JSON.stringify(run.metadata),
  error: run.error === undefined ? null : JSON.stringify(run.error),
  input: run.input,
  result: run.result ?? null,
  suspension: run.suspension ?? null,
  resumption: run.resumption ?? null,
})

const toOriginColumns = (run: RunRecord) => ({
  thread_id: run.threadId ?? null,
  session_id: run.sessionId ?? null,
  user_id: run.userId ?? null,
  depth: run.depth,
  parent_run_id: run.parentRunId ?? null,
  parent_seq: run.parentSeq ?? null,
  trigger_id: run.triggerId ?? null,
  traceparent: run.traceparent ?? null,
})
