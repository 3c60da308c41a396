import type { EpochMs, JobPhase, JobRecord } from '@perdure/ports'

export interface JobRow {
  readonly id: string
  readonly job_key: string
  readonly phase: JobPhase
  readonly owner: string | null
  readonly session_id: string | null
  readonly attempts: number
  readonly due_at: number
  readonly lease: string | null
  readonly is_again: number
  readonly error: string | null
  readonly created_at: number
  readonly failed_at: number | null
}

export const toJob = (row: JobRow): JobRecord => ({
  id: row.id,
  key: row.job_key,
  phase: row.phase,
  owner: row.owner ?? undefined,
  sessionId: row.session_id ?? undefined,
  attempts: row.attempts,
  dueAt: row.due_at as EpochMs,
  lease: row.lease ?? undefined,
  runAgain: row.is_again === 1,
  error: row.error === null ? undefined : JSON.parse(row.error),
  createdAt: row.created_at as EpochMs,
  failedAt: (row.failed_at ?? undefined) as EpochMs | undefined,
})
