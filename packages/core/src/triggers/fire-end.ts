import type { EpochMs, RunRecord, Write } from '@perdure/ports'
import { appendEvents, triggerEvent } from './trigger-events.ts'

/** The metadata of a run that was started by a fire. */
export interface FireMetadata {
  readonly fireId: string
  readonly scheduledAt: string // ISO-8601
}

/** The writes that end the fire that started the run; empty if the run was not started by a fire. */
export function fireEndWrites(run: RunRecord, at: EpochMs): readonly Write[] {
  const { triggerId, metadata } = run
  const { fireId } = metadata
  if (triggerId === undefined || fireId === undefined) return []
  if (run.status === 'completed') return [{ type: 'fire.end', id: fireId, status: 'completed' }]
  const reason = reasonOf(run)
  const scheduledAt = Date.parse(metadata.scheduledAt ?? '') as EpochMs
  return [
    { type: 'fire.end', id: fireId, status: 'failed', reason },
    appendEvents(triggerEvent(triggerId, 'trigger.failed', { at, fireId, scheduledAt, runId: run.id, reason })),
  ]
}

const reasonOf = ({ error, finishReason, status }: RunRecord): string =>
  error === undefined ? (finishReason ?? status) : `${error.code}: ${error.message}`
