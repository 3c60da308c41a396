import type { EpochMs, JsonText, StepRecord } from '@perdure/ports'
import { JSON_TEXT, type RowIn, recordTable } from '../query/record-table.ts'
import { toRunError } from '../runs/run-error-row.ts'

/** Without the column that names the run. */
export const STEPS = recordTable<Omit<StepRecord, 'runId'>>()({
  seq: 'integer',
  kind: 'text',
  name: 'text',
  status: 'text',
  attempt: 'integer',
  recoveries: 'integer',
  endOrder: { type: 'integer', name: 'order' },
  dueAt: 'bigint',
  eventName: 'text',
  approvalId: 'text',
  askedHash: 'text',
  childRunId: 'text',
  startedAt: 'bigint',
  endedAt: { type: 'bigint', name: 'settled_at' },
  error: JSON_TEXT,
  result: 'text',
  resultFile: JSON_TEXT,
  usage: JSON_TEXT,
})

export interface StepRow extends RowIn<typeof STEPS> {
  readonly run_id: string
}

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
