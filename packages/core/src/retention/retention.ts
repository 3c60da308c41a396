import { type EpochMs, plusMs, type UnitOfWork, type Write } from '@perdure/ports'
import type { Daemon } from '../lifecycle/daemon.ts'
import { createSupervisedLoop, type SupervisedLoopDeps } from '../lifecycle/supervised-loop.ts'
import { createExpireSessions, type ExpireSessionsDeps } from '../sessions/expire-sessions.ts'

export interface RetentionDeps extends SupervisedLoopDeps, ExpireSessionsDeps {
  readonly unitOfWork: UnitOfWork
  readonly limits: RetentionLimits
}

export interface RetentionLimits {
  readonly eventsDays: number
  /** Never when missing. */
  readonly runsDays?: number | undefined
  /** Without activity. Never when missing. */
  readonly sessionsDays?: number | undefined
}

const DAY_MS = 86_400_000
const EVERY_MS = 600_000
/** A commit stays short, so that it holds up nobody. A run has several rows. */
const EVENTS_AT_ONCE = 500
const RUNS_AT_ONCE = 50

/** Removes what is older than it is to be kept, a bounded number of rows in each commit. */
export function createRetention(deps: RetentionDeps): Daemon {
  const { unitOfWork, clock, limits, logger } = deps
  const expireSessions = createExpireSessions(deps)
  let prunedAtMs: number | undefined

  const daysAgo = (days: number): EpochMs => plusMs(clock.now(), -days * DAY_MS)

  /** Whether everything of that kind is gone. */
  const remove = async (write: Extract<Write, { readonly type: 'event.trim' | 'run.prune' }>): Promise<boolean> => {
    const outcome = await unitOfWork.commit([write])
    return !outcome.committed || (outcome.counts[0] ?? 0) < write.limit
  }

  /** Whether every session that may go is gone. */
  const removeSessions = async (days: number): Promise<boolean> => {
    const { deleted, hasMore } = await expireSessions(daysAgo(days))
    if (deleted > 0) logger.info('idle sessions removed', { sessions: deleted })
    return !hasMore
  }

  return createSupervisedLoop(deps, {
    name: 'retention',
    async work() {
      if (prunedAtMs !== undefined && clock.monotonicMs() - prunedAtMs < EVERY_MS) return undefined
      const { eventsDays, runsDays, sessionsDays } = limits
      const areEventsGone = await remove({ type: 'event.trim', before: daysAgo(eventsDays), limit: EVENTS_AT_ONCE })
      const areRunsGone =
        runsDays === undefined || (await remove({ type: 'run.prune', before: daysAgo(runsDays), limit: RUNS_AT_ONCE }))
      const areSessionsGone = sessionsDays === undefined || (await removeSessions(sessionsDays))
      if (!areEventsGone || !areRunsGone || !areSessionsGone) return 0
      prunedAtMs = clock.monotonicMs()
      return undefined
    },
  })
}
