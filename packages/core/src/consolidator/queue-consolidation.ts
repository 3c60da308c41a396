import {
  type Clock,
  type ConsolidationStore,
  EVERY_ROW,
  type IdGenerator,
  type JobPhase,
  type JobQueue,
  type NewJob,
  perdureError,
  type SessionStore,
  type Write,
} from '@perdure/ports'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import type { PhaseHolder } from '../lifecycle/phase.ts'
import { extractTarget, newJob } from './jobs.ts'

export interface QueueConsolidationDeps extends CommitOnceDeps {
  readonly jobs: JobQueue
  readonly consolidation: ConsolidationStore
  readonly sessions: SessionStore
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly phase: PhaseHolder
  /** Called after jobs were queued. */
  readonly onQueued: () => void
}

export interface QueueConsolidationRequest {
  /** Default: every phase. */
  readonly phase?: JobPhase | undefined
  /** Restricts the jobs to this session and the facts of its owner; default: every changed session and all facts. */
  readonly sessionId?: string | undefined
  readonly key?: KeyedRequest | undefined
}

/** Queues jobs on behalf of an operator. Both methods answer 202 with the ids of the jobs. */
export interface QueueConsolidation {
  /** @throws PerdureError `session-not-found`, `server-draining` */
  queue(request: QueueConsolidationRequest): Promise<Reply>
  /** Queues a dead letter again. @throws PerdureError `dead-letter-not-found`, `server-draining` */
  retry(request: { readonly id: string; readonly key?: KeyedRequest | undefined }): Promise<Reply>
}

const MAX_SESSIONS = 200

export function createQueueConsolidation(deps: QueueConsolidationDeps): QueueConsolidation {
  const { jobs, clock, phase, onQueued } = deps

  const answer = async (
    key: KeyedRequest | undefined,
    decide: () => Promise<{ readonly writes: readonly Write[]; readonly jobIds: readonly string[] }>,
  ): Promise<Reply> => {
    if (phase.current() !== 'ready') throw perdureError('server-draining', { retryAfter: 5_000 })
    const once = await commitOnce(deps, key, async () => {
      const { writes, jobIds } = await decide()
      return { writes, reply: { status: 202, body: { jobIds } }, remember: true }
    })
    if (once.kind === 'replayed') return once.reply
    onQueued()
    return once.decision.reply
  }

  return {
    queue: (request) =>
      answer(request.key, async () => {
        const requested = await jobsFor(deps, request)
        const queued = await Promise.all(requested.map(({ key }) => jobs.findLive(key)))
        return {
          writes: requested.map((job) => ({ type: 'job.enqueue', job })),
          jobIds: requested.map((job, index) => queued[index]?.id ?? job.id),
        }
      }),
    retry: ({ id, key }) =>
      answer(key, async () => {
        const dead = await jobs.find(id)
        if (dead?.failedAt === undefined) throw perdureError('dead-letter-not-found')
        const other = await jobs.findLive(dead.key)
        return { writes: [{ type: 'job.retry', id, now: clock.now() }], jobIds: [other?.id ?? id] }
      }),
  }
}

async function jobsFor(
  deps: QueueConsolidationDeps,
  { phase, sessionId }: QueueConsolidationRequest,
): Promise<readonly NewJob[]> {
  const isRequested = (one: JobPhase) => phase === undefined || phase === one
  const { owner, sessions } = await scopeOf(deps, sessionId, isRequested('extract'))
  const upkeep = (['merge', 'decay'] as const).filter(isRequested)
  return [...sessions.map(extractTarget), ...upkeep.map((one) => ({ phase: one, owner }))].map((target) =>
    newJob(deps, target),
  )
}

async function scopeOf(
  { sessions, consolidation, clock }: QueueConsolidationDeps,
  sessionId: string | undefined,
  isExtracting: boolean,
) {
  if (sessionId !== undefined) {
    const session = await sessions.find(sessionId, EVERY_ROW)
    if (session === undefined) throw perdureError('session-not-found')
    return { owner: session.owner, sessions: isExtracting ? [{ sessionId, owner: session.owner }] : [] }
  }
  const changed = isExtracting ? await consolidation.idleSessions(clock.now(), MAX_SESSIONS) : []
  return { owner: undefined, sessions: changed }
}
