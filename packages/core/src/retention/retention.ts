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
  /** Days after which expired and revoked tokens are removed. */
  readonly tokensDays: number
  /** If missing, runs are never removed. */
  readonly runsDays?: number | undefined
  /** Days without activity. If missing, sessions are never removed. */
  readonly sessionsDays?: number | undefined
}

const DAY_MS = 86_400_000
const EVERY_MS = 600_000
/**
 * Limits keep each commit short, so that other writes are not delayed. The limit for runs is lower than the limit for
 * events, because a run has several rows.
 */
const EVENTS_PER_COMMIT = 500
const RUNS_PER_COMMIT = 50
const TOKENS_PER_COMMIT = 500

type Removal = Extract<Write, { readonly type: 'event.trim' | 'run.prune' | 'token.prune' }>

/** Removes events, runs, sessions and ended tokens older than their retention period, a bounded number per commit. */
export function createRetention(deps: RetentionDeps): Daemon {
  const { unitOfWork, clock, limits, logger } = deps
  const expireSessions = createExpireSessions(deps)
  let prunedAtMs: number | undefined

  const daysAgo = (days: number): EpochMs => plusMs(clock.now(), -days * DAY_MS)

  /** Returns whether all expired rows of this kind are gone. */
  const remove = async (write: Removal): Promise<boolean> => {
    const outcome = await unitOfWork.commit([write])
    return !outcome.committed || (outcome.counts[0] ?? 0) < write.limit
  }

  /** Returns whether all expired sessions are gone. */
  const removeSessions = async (days: number): Promise<boolean> => {
    const { deleted, hasMore } = await expireSessions(daysAgo(days))
    if (deleted > 0) logger.info('removed idle sessions', { sessions: deleted })
    return !hasMore
  }

  return createSupervisedLoop(deps, {
    name: 'retention',
    duty: 'retention',
    async work() {
      if (prunedAtMs !== undefined && clock.monotonicMs() - prunedAtMs < EVERY_MS) return undefined
      const { eventsDays, tokensDays, runsDays, sessionsDays } = limits
      const areEventsGone = await remove({ type: 'event.trim', before: daysAgo(eventsDays), limit: EVENTS_PER_COMMIT })
      const areRunsGone =
        runsDays === undefined ||
        (await remove({ type: 'run.prune', before: daysAgo(runsDays), limit: RUNS_PER_COMMIT }))
      const areSessionsGone = sessionsDays === undefined || (await removeSessions(sessionsDays))
      const areTokensGone = await remove({ type: 'token.prune', before: daysAgo(tokensDays), limit: TOKENS_PER_COMMIT })
      if (!areEventsGone || !areRunsGone || !areSessionsGone || !areTokensGone) return 0
      prunedAtMs = clock.monotonicMs()
      return undefined
    },
  })
}
