import type { ChangedSession, Clock, IdGenerator, JobPhase, NewJob } from '@perdure/ports'
import { CONSOLIDATOR_PHASES } from '@perdure/protocol'

export const PHASES: readonly JobPhase[] = CONSOLIDATOR_PHASES

/** What a job works on. */
export interface JobTarget {
  readonly phase: JobPhase
  readonly owner?: string | undefined
  readonly sessionId?: string | undefined
}

/** A job that is due immediately. Its key identifies its work, so that the same work is queued only once. */
export function newJob(
  { clock, ids }: { readonly clock: Clock; readonly ids: IdGenerator },
  target: JobTarget,
): NewJob {
  const { phase, owner, sessionId } = target
  const now = clock.now()
  const key = JSON.stringify([phase, sessionId ?? null, phase === 'extract' ? null : (owner ?? null)])
  return { id: ids.newId('job'), key, phase, owner, sessionId, createdAt: now, dueAt: now }
}

export const extractTarget = ({ sessionId, owner }: Pick<ChangedSession, 'sessionId' | 'owner'>): JobTarget => ({
  phase: 'extract',
  sessionId,
  owner,
})

/** The job that follows a completed job: a merge follows an extraction, and a decay follows a merge. */
export function nextTarget({ phase, owner }: JobTarget): JobTarget | undefined {
  if (phase === 'extract') return { phase: 'merge', owner }
  return phase === 'merge' ? { phase: 'decay', owner } : undefined
}
