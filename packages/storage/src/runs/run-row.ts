import { type EpochMs, type JsonText, NO_USAGE, type RunRecord } from '@perdure/ports'
import { type ColumnTypes, columnsOf, JSON_TEXT, type RowIn, recordTable } from '../query/record-table.ts'
import { toRunError } from './run-error-row.ts'

/**
 * Without the columns that name the run and the call at which it was forked. The rows of runs, calls, messages and keys are
 * converted by hand, because the conversion by a table takes twenty times as long.
 */
export const RUNS = recordTable<Omit<RunRecord, 'forkOf'>>()({
  id: 'text',
  kind: 'text',
  targetId: 'text',
  threadId: 'text',
  sessionId: 'text',
  owner: 'text',
  userId: 'text',
  status: 'text',
  finishReason: 'text',
  attempt: 'integer',
  timeoutMs: 'bigint',
  parentRunId: 'text',
  triggerId: 'text',
  traceparent: 'text',
  createdAt: 'bigint',
  startedAt: 'bigint',
  suspendedAt: 'bigint',
  completedAt: 'bigint',
  usage: JSON_TEXT,
  metadata: JSON_TEXT,
  error: JSON_TEXT,
  input: 'text',
  result: 'text',
  depth: 'integer',
  parentSeq: 'integer',
  deadlineAt: 'bigint',
  budget: JSON_TEXT,
  suspension: 'text',
  resumption: 'text',
  version: 'text',
  startAt: 'bigint',
  retries: 'integer',
  abortReason: 'text',
  parked: 'text',
  priority: 'integer',
  flow: JSON_TEXT,
  execution: 'integer',
  executor: 'text',
  withdrawnBy: 'text',
  caller: 'text',
})

export interface RunRow extends RowIn<typeof RUNS> {
  readonly fork_run_id: string | null
  readonly fork_seq: number | null
}

export const RUN_TYPES: ColumnTypes<RunRow> = { ...RUNS.types, fork_run_id: 'text', fork_seq: 'integer' }

export const RUN_COLUMNS = columnsOf(RUN_TYPES)

export const toRunRow = (run: RunRecord): RunRow => ({
  ...toOriginColumns(run),
  ...toExecutionColumns(run),
  id: run.id,
  kind: run.kind,
  target_id: run.targetId,
  owner: run.owner,
  status: run.status,
  finish_reason: run.finishReason ?? null,
  timeout_ms: run.timeoutMs ?? null,
  deadline_at: run.deadlineAt ?? null,
  created_at: run.createdAt,
  usage: JSON.stringify(run.usage),
  budget: run.budget === undefined ? null : JSON.stringify(run.budget),
  metadata: JSON.stringify(run.metadata),
  error: run.error === undefined ? null : JSON.stringify(run.error),
  input: run.input,
  result: run.result ?? null,
  suspension: run.suspension ?? null,
  resumption: run.resumption ?? null,
  parked: run.parked ?? null,
  start_at: run.startAt ?? null,
  abort_reason: run.abortReason ?? null,
})

const toExecutionColumns = (run: RunRecord) => ({
  attempt: run.attempt,
  execution: run.execution,
  executor: run.executor ?? null,
  retries: run.retries ?? null,
  started_at: run.startedAt ?? null,
  suspended_at: run.suspendedAt ?? null,
  completed_at: run.completedAt ?? null,
})

const toOriginColumns = (run: RunRecord) => ({
  thread_id: run.threadId ?? null,
  session_id: run.sessionId ?? null,
  user_id: run.userId ?? null,
  caller: run.caller ?? null,
  depth: run.depth,
  parent_run_id: run.parentRunId ?? null,
  parent_seq: run.parentSeq ?? null,
  trigger_id: run.triggerId ?? null,
  traceparent: run.traceparent ?? null,
  version: run.version ?? null,
  priority: run.priority ?? null,
  flow: run.flow === undefined ? null : JSON.stringify(run.flow),
  fork_run_id: run.forkOf?.runId ?? null,
  fork_seq: run.forkOf?.seq ?? null,
  withdrawn_by: run.withdrawnBy ?? null,
})

export const toRun = (row: RunRow): RunRecord => ({
  ...toOrigin(row),
  ...toExecution(row),
  id: row.id,
  kind: row.kind,
  targetId: row.target_id,
  owner: row.owner,
  status: row.status,
  finishReason: row.finish_reason ?? undefined,
  input: row.input as JsonText, // undefined in a list without inputs
  result: (row.result ?? undefined) as JsonText | undefined,
  error: row.error === null ? undefined : toRunError(row.error),
  usage: { ...NO_USAGE, ...JSON.parse(row.usage) },
  budget: row.budget === null ? undefined : JSON.parse(row.budget),
  deadlineAt: (row.deadline_at ?? undefined) as EpochMs | undefined,
  timeoutMs: row.timeout_ms ?? undefined,
  suspension: (row.suspension ?? undefined) as JsonText | undefined,
  resumption: (row.resumption ?? undefined) as JsonText | undefined,
  parked: (row.parked ?? undefined) as JsonText | undefined,
  startAt: (row.start_at ?? undefined) as EpochMs | undefined,
  abortReason: row.abort_reason ?? undefined,
  metadata: JSON.parse(row.metadata),
  createdAt: row.created_at as EpochMs,
})

const toExecution = (row: RunRow) => ({
  attempt: row.attempt,
  execution: row.execution,
  executor: row.executor ?? undefined,
  retries: row.retries ?? undefined,
  startedAt: (row.started_at ?? undefined) as EpochMs | undefined,
  suspendedAt: (row.suspended_at ?? undefined) as EpochMs | undefined,
  completedAt: (row.completed_at ?? undefined) as EpochMs | undefined,
})

const toOrigin = (row: RunRow) => ({
  threadId: row.thread_id ?? undefined,
  sessionId: row.session_id ?? undefined,
  userId: row.user_id ?? undefined,
  caller: (row.caller ?? undefined) as JsonText | undefined,
  depth: row.depth,
  parentRunId: row.parent_run_id ?? undefined,
  parentSeq: row.parent_seq ?? undefined,
  triggerId: row.trigger_id ?? undefined,
  traceparent: row.traceparent ?? undefined,
  version: row.version ?? undefined,
  priority: row.priority ?? undefined,
  flow: row.flow === null ? undefined : JSON.parse(row.flow),
  withdrawnBy: row.withdrawn_by ?? undefined,
  forkOf: row.fork_run_id === null ? undefined : { runId: row.fork_run_id, seq: row.fork_seq ?? 0 },
})
