import type { EpochMs, JsonText, StepKind, StepRecord, StepStatus } from '@perdure/ports'
import { type ColumnTypes, columnsOf } from '../query/column-types.ts'
import { toRunError } from '../runs/run-error-row.ts'

export interface StepRow {
  readonly run_id: string
  readonly seq: number
  readonly kind: StepKind
  readonly name: string
  readonly status: StepStatus
  readonly attempt: number
  readonly recoveries: number | null
  readonly order: number | null
  readonly due_at: number | null
  readonly event_name: string | null
  readonly approval_id: string | null
  readonly asked_hash: string | null
  readonly child_run_id: string | null
  readonly started_at: number
  readonly settled_at: number | null
  readonly error: string | null
  readonly result: string | null
  readonly result_file: string | null // JSON
  readonly usage: string | null // JSON
}

/** Without the column that names the run. */
export const STEP_TYPES: ColumnTypes<Omit<StepRow, 'run_id'>> = {
  seq: 'integer',
  kind: 'text',
  name: 'text',
  status: 'text',
  attempt: 'integer',
  recoveries: 'integer',
  order: 'integer',
  due_at: 'bigint',
  event_name: 'text',
  approval_id: 'text',
  asked_hash: 'text',
  child_run_id: 'text',
  started_at: 'bigint',
  settled_at: 'bigint',
  error: 'text',
  result: 'text',
  result_file: 'text',
  usage: 'text',
}

export const STEP_COLUMNS = columnsOf(STEP_TYPES)

export const toStepRow = (step: StepRecord): StepRow => ({
  run_id: step.runId,
  seq: step.seq,
  kind: step.kind,
  name: step.name,
  status: step.status,
  attempt: step.attempt,
  recoveries: step.recoveries ?? null,
  order: step.endOrder ?? null,
  due_at: step.dueAt ?? null,
  event_name: step.eventName ?? null,
  approval_id: step.approvalId ?? null,
  asked_hash: step.askedHash ?? null,
  child_run_id: step.childRunId ?? null,
  started_at: step.startedAt,
  settled_at: step.endedAt ?? null,
  error: step.error === undefined ? null : JSON.stringify(step.error),
  result: step.result ?? null,
  result_file: step.resultFile === undefined ? null : JSON.stringify(step.resultFile),
  usage: step.usage === undefined ? null : JSON.stringify(step.usage),
})

export const toStep = (row: StepRow): StepRecord => ({
  runId: row.run_id,
  seq: row.seq,
  kind: row.kind,
  name: row.name,
  status: row.status,
  attempt: row.attempt,
  recoveries: row.recoveries ?? undefined,
  result: (row.result ?? undefined) as JsonText | undefined,
  resultFile: row.result_file === null ? undefined : JSON.parse(row.result_file),
  error: typeof row.error === 'string' ? toRunError(row.error) : undefined,
  dueAt: (row.due_at ?? undefined) as EpochMs | undefined,
  eventName: row.event_name ?? undefined,
  approvalId: row.approval_id ?? undefined,
  askedHash: row.asked_hash ?? undefined,
  childRunId: row.child_run_id ?? undefined,
  usage: row.usage === null ? undefined : JSON.parse(row.usage),
  endOrder: row.order ?? undefined,
  startedAt: row.started_at as EpochMs,
  endedAt: (row.settled_at ?? undefined) as EpochMs | undefined,
})
