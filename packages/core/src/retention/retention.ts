import { type EpochMs, plusMs, type UnitOfWork, type Write } from '@perdure/ports'
import type { Days } from '../declarations/longest-limit.ts'
import { createLongestLimit, type LongestLimitDeps } from '../declarations/longest-limit.ts'
import type { Daemon } from '../lifecycle/daemon.ts'
import { createSupervisedLoop, type SupervisedLoopDeps } from '../lifecycle/supervised-loop.ts'
import { createExpireSessions, type ExpireSessionsDeps } from '../sessions/expire-sessions.ts'

/** When rows are removed. A missing limit: never. */
interface RetentionLimits {
  readonly eventsDays: number
  /** Days after which expired and revoked tokens are removed. */
  readonly tokensDays: number
  readonly runsDays?: Days
  /** Days without activity. */
  readonly sessionsDays?: Days
}

export interface RetentionDeps extends SupervisedLoopDeps, ExpireSessionsDeps, LongestLimitDeps {
  readonly unitOfWork: UnitOfWork
  readonly limits: RetentionLimits
  /** Days after which deliveries that hooks have received are removed. */
  readonly hooksDays: number
}

export type { RetentionLimits }

const DAY_MS = 86_400_000
const EVERY_MS = 600_000
/**
 * Limits keep each commit short, so that other writes are not delayed. The limit for runs is lower than the limit for
 * events, because a run has several rows.
 */
const EVENTS_PER_COMMIT = 500
const RUNS_PER_COMMIT = 50
const TOKENS_PER_COMMIT = 500
const DELIVERIES_PER_COMMIT = 100

type Removal = Extract<Write, { readonly type: 'event.trim' | 'run.prune' | 'token.prune' | 'hook-delivery.prune' }>

/** Removes events, runs, sessions, ended tokens and received deliveries older than their retention period, a bounded number per commit. */
export function createRetention(deps: RetentionDeps): Daemon {
  const { unitOfWork, clock, limits, logger } = deps
  const expireSessions = createExpireSessions(deps)
  const longestLimit = createLongestLimit(deps)
  let prunedAtMs: number | undefined

  const daysAgo = (days: number): EpochMs => plusMs(clock.now(), -days * DAY_MS)

  /** Returns whether all expired rows of this kind are gone. */
  const remove = async (write: Removal): Promise<boolean> => {
    const outcome = await unitOfWork.commit([write])
    return !outcome.committed || (outcome.counts[0] ?? 0) < write.limit
  }

  /** Returns whether all expired sessions are gone. */
  const removeSessions = async (before: EpochMs): Promise<boolean> => {
    const { deleted, hasMore } = await expireSessions(before)
    if (deleted > 0) logger.info('removed idle sessions', { sessions: deleted })
    return !hasMore
  }

  const removeOlder = async (limit: keyof RetentionLimits, removeBefore: (before: EpochMs) => Promise<boolean>) => {
    const days = await longestLimit('retention', limit, limits[limit])
    return days === undefined || removeBefore(daysAgo(days))
  }

  const removeDeliveries = async () => {
    const days = await longestLimit('hook-retention', 'days', deps.hooksDays)
    if (days === undefined) return true
    return remove({ type: 'hook-delivery.prune', before: daysAgo(days), limit: DELIVERIES_PER_COMMIT })
  }

  return createSupervisedLoop(deps, {
    name: 'retention',
    duty: 'retention',
    async work() {
      if (prunedAtMs !== undefined && clock.monotonicMs() - prunedAtMs < EVERY_MS) return undefined
      const areGone = [
        await removeOlder('eventsDays', (before) => remove({ type: 'event.trim', before, limit: EVENTS_PER_COMMIT })),
        await removeOlder('runsDays', (before) => remove({ type: 'run.prune', before, limit: RUNS_PER_COMMIT })),
        await removeOlder('sessionsDays', removeSessions),
        await removeOlder('tokensDays', (before) => remove({ type: 'token.prune', before, limit: TOKENS_PER_COMMIT })),
        await removeDeliveries(),
      ]
      if (areGone.includes(false)) return 0
      prunedAtMs = clock.monotonicMs()
      return undefined
    },
  })
}
