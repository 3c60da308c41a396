import type { ChangedSession, Clock, IdGenerator, JobPhase, NewJob } from '@perdure/ports'

export const PHASES: readonly JobPhase[] = ['extract', 'merge', 'decay']

/** Of what a job is to be made. */
export interface JobTarget {
  readonly phase: JobPhase
  readonly owner?: string | undefined
  readonly sessionId?: string | undefined
}

/** A job that is due at once. Its key says what it would do. */
export function newJob(
  { clock, ids }: { readonly clock: Clock; readonly ids: IdGenerator },
  target: JobTarget,
): NewJob {
  const { phase, owner, sessionId } = target
  const now = clock.now()
  const key = JSON.stringify([phase, sessionId ?? null, phase === 'extract' ? null : (owner ?? null)])
  return { id: ids.newId('job'), key, phase, owner, sessionId, createdAt: now, dueAt: now }
}

export const extractionOf = ({ sessionId, owner }: Pick<ChangedSession, 'sessionId' | 'owner'>): JobTarget => ({
  phase: 'extract',
  sessionId,
  owner,
})

/** What follows when a job is done: new facts may be duplicates, then is the time to let the old ones fade. */
export function followerOf({ phase, owner }: JobTarget): JobTarget | undefined {
  if (phase === 'extract') return { phase: 'merge', owner }
  return phase === 'merge' ? { phase: 'decay', owner } : undefined
}
