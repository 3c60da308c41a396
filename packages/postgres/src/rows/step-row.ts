import type { EpochMs, JsonText, StepRecord } from '@perdure/ports'
import type { Selectable } from 'kysely'
import type { StepTable } from '../query/schema.ts'
import { toRunError } from './run-error-row.ts'

export type StepRow = Selectable<StepTable>

export type NewStepRow = Omit<StepTable, 'key'>

export const STEP_COLUMNS = [
  'run_id',
  'seq',
  'kind',
  'name',
  'status',
  'attempt',
  'order',
  'due_at',
  'event_name',
  'approval_id',
  'child_run_id',
  'started_at',
  'settled_at',
  'error',
  'result',
  'usage',
] as const

export const toStepRow = (step: StepRecord): NewStepRow => ({
  run_id: step.runId,
  seq: step.seq,
  kind: step.kind,
  name: step.name,
  status: step.status,
  attempt: step.attempt,
  order: step.endOrder ?? null,
  due_at: step.dueAt ?? null,
  event_name: step.eventName ?? null,
  approval_id: step.approvalId ?? null,
  child_run_id: step.childRunId ?? null,
  started_at: step.startedAt,
  settled_at: step.endedAt ?? null,
  error: step.error === undefined ? null : JSON.stringify(step.error),
  result: step.result ?? null,
  usage: step.usage === undefined ? null : JSON.stringify(step.usage),
})

export const toStep = (row: StepRow): StepRecord => ({
  runId: row.run_id,
  seq: row.seq,
  kind: row.kind,
  name: row.name,
  status: row.status,
  attempt: row.attempt,
  result: (row.result ?? undefined) as JsonText | undefined,
  error: typeof row.error === 'string' ? toRunError(row.error) : undefined,
  dueAt: (row.due_at ?? undefined) as EpochMs | undefined,
  eventName: row.event_name ?? undefined,
  approvalId: row.approval_id ?? undefined,
  childRunId: row.child_run_id ?? undefined,
  usage: row.usage === null ? undefined : JSON.parse(row.usage),
  endOrder: row.order ?? undefined,
  startedAt: row.started_at as EpochMs,
  endedAt: (row.settled_at ?? undefined) as EpochMs | undefined,
})
