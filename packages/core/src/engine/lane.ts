import type { RunRecord } from '@perdure/ports'
import type { RunTarget } from '../targets/run-target.ts'
import type { SlotRequest } from './admission.ts'

/**
 * The lane of a run: runs of one lane execute one after another. `undefined` when runs of the target execute in
 * parallel.
 */
export function laneOf({ kind, id, concurrency }: RunTarget, sessionId: string | undefined): string | undefined {
  if (concurrency === 'single') return `${kind}:${id}`
  return concurrency === 'session' && sessionId !== undefined ? `${kind}:${id} ${sessionId}` : undefined
}

export function slotRequestOf(target: RunTarget, run: Pick<RunRecord, 'id' | 'sessionId' | 'owner'>): SlotRequest {
  return { runId: run.id, subject: run.owner, lane: laneOf(target, run.sessionId), onBusy: target.onBusy }
}
