import type { EpochMs, RunRecord, Write } from '@perdure/ports'
import { appendEvents, triggerEvent } from './trigger-events.ts'

/** What the metadata of a run says of the fire that started it. */
export interface FireMetadata {
  readonly fireId: string
  readonly scheduledAt: string // ISO-8601
}

/** What the end of a run means for the fire that started it; nothing when none did. */
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
  error === undefined ? (finishReason ?? status) : `${error.code ?? error.kind}: ${error.message}`
