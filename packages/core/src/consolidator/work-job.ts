import {
  type Clock,
  type ConsolidationJob,
  type ConsolidatorPhases,
  type EpochMs,
  type IdGenerator,
  type JobError,
  type JobRecord,
  type Logger,
  type PhaseResult,
  plusMs,
  type Timers,
  toJsonText,
  type UnitOfWork,
  type Write,
} from '@perdure/ports'
import { CONFLICT, retryConflicts } from '../concurrency/retry-conflicts.ts'
import type { FactDecisionsDeps } from '../memory/fact-decisions.ts'
import { MEMORY_TOPIC } from '../memory/memory-events.ts'
import { checkPhaseResult } from './check-phase-result.ts'
import { dayOf } from './daily-spend.ts'
import { followerOf, newJob } from './jobs.ts'
import { createPhaseReads, type PhaseReadsDeps, type TrackedReads } from './phase-reads.ts'
import { changesIn, phaseWrites } from './phase-writes.ts'

export interface WorkJobDeps extends PhaseReadsDeps {
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly timers: Timers
  readonly ids: IdGenerator
  readonly logger: Logger
  readonly phases: ConsolidatorPhases
  readonly decisions: FactDecisionsDeps
  readonly leaseMs: number
}

/**
 * Takes the job and does it. What its phase decides is written in one commit with the end of the job, under the lease on
 * it: a process that dies, or is too slow, leaves nothing half done and nothing twice. A phase that fails is tried again
 * later, and its job is given up after five attempts. `stopping` aborts: then the job goes back as it was.
 */
export type WorkJob = (job: JobRecord, stopping: AbortSignal) => Promise<void>

const MAX_ATTEMPTS = 5
const MAX_COMMIT_ATTEMPTS = 5
const FIRST_BACKOFF_MS = 5_000
const BACKOFF_FACTOR = 4

export function createWorkJob(deps: WorkJobDeps): WorkJob {
  const { unitOfWork, clock, ids, leaseMs } = deps

  return async (job, stopping) => {
    const lease = ids.newId('job')
    const now = clock.now()
    const claim: Write = { type: 'job.claim', id: job.id, lease, now, until: plusMs(now, leaseMs) }
    if (!(await unitOfWork.commit([claim])).committed) return

    const held: HeldJob = { job, lease, attempt: job.attempts + 1 }
    if (held.attempt > MAX_ATTEMPTS) return giveBack(deps, held, { error: job.error ?? CUT_OFF })
    try {
      await withinLease(deps, stopping, (signal) => perform(deps, held, signal))
    } catch (error) {
      if (stopping.aborted) return giveBack(deps, { ...held, attempt: job.attempts }, { dueAt: clock.now() })
      await fail(deps, held, error)
    }
  }
}

/** A job that this process has taken. */
interface HeldJob {
  readonly job: JobRecord
  readonly lease: string
  readonly attempt: number
}

const CUT_OFF: JobError = { kind: 'interrupted', message: 'the process ended during every attempt' }

async function perform(deps: WorkJobDeps, held: HeldJob, signal: AbortSignal): Promise<void> {
  await retryConflicts(async () => {
    const now = deps.clock.now()
    const { job, attempt } = held
    const { phase, owner, sessionId } = job
    const shown: ConsolidationJob = { phase, jobId: job.id, attempt, owner, sessionId, now, signal }
    const tracked = createPhaseReads(deps, shown)
    const result = (await deps.phases[phase](shown, tracked.reads)) ?? {}
    checkPhaseResult(result)
    const writes = await completion(deps, held, { result, tracked, now })
    signal.throwIfAborted()
    const outcome = await deps.unitOfWork.commit(writes)
    // After `job.complete` conflicts, another process holds the job and does the work.
    const isOver = outcome.committed || outcome.conflict.type === 'job.complete'
    return isOver ? undefined : CONFLICT
  }, MAX_COMMIT_ATTEMPTS)
}

interface Performed {
  readonly result: PhaseResult
  readonly tracked: TrackedReads
  readonly now: EpochMs
}

/** The end of the job and all that its phase has decided. The lease is checked first. */
async function completion(
  deps: WorkJobDeps,
  { job, lease }: HeldJob,
  { result, tracked, now }: Performed,
): Promise<readonly Write[]> {
  const { sessionId, phase } = job
  const throughSeq = tracked.readThrough()
  const runAgain = result.hasMore === true || tracked.hasUnread()
  const follower = runAgain ? undefined : followerOf(job)
  const payload = toJsonText({ phase, jobId: job.id, changed: changesIn(result), sessionId })
  return [
    { type: 'job.complete', id: job.id, lease, now, runAgain },
    ...(await phaseWrites(deps.decisions, { ...job, now }, result)),
    ...(sessionId === undefined || throughSeq === 0
      ? []
      : [{ type: 'consolidation.extracted', sessionId, throughSeq } as const]),
    ...(result.spent === undefined ? [] : [spendWrite(result.spent, now)]),
    ...(follower === undefined ? [] : [{ type: 'job.enqueue', job: newJob(deps, follower) } as const]),
    { type: 'event.append', events: [{ topic: MEMORY_TOPIC, type: 'memory.consolidated', payload, at: now }] },
  ]
}

function spendWrite({ tokens, costUsd }: NonNullable<PhaseResult['spent']>, now: EpochMs): Write {
  const isValid = Number.isSafeInteger(tokens) && tokens >= 0 && Number.isFinite(costUsd) && costUsd >= 0
  if (!isValid) throw new Error('spent: expected a whole number of tokens and a cost, neither below 0')
  return { type: 'consolidation.spend', day: dayOf(now), spend: { tokens, costUsd } }
}

async function fail(deps: WorkJobDeps, held: HeldJob, thrown: unknown): Promise<void> {
  const { job, attempt } = held
  const error = errorOf(thrown)
  const isLast = attempt >= MAX_ATTEMPTS
  const fields = { jobId: job.id, phase: job.phase, attempt, kind: error.kind }
  if (isLast) deps.logger.error('consolidation given up', thrown, fields)
  else deps.logger.warn('consolidation failed, will try again', { ...fields, message: error.message })
  const backoffMs = FIRST_BACKOFF_MS * BACKOFF_FACTOR ** (attempt - 1)
  await giveBack(deps, held, { error, dueAt: isLast ? undefined : plusMs(deps.clock.now(), backoffMs) })
}

/** No longer held by this process; a lease that is lost was given back already. */
async function giveBack(
  { unitOfWork, clock }: WorkJobDeps,
  { job, lease, attempt }: HeldJob,
  { error = job.error, dueAt }: { readonly error?: JobError | undefined; readonly dueAt?: EpochMs | undefined },
): Promise<void> {
  await unitOfWork.commit([{ type: 'job.fail', id: job.id, lease, now: clock.now(), attempts: attempt, error, dueAt }])
}

function errorOf(thrown: unknown): JobError {
  const { kind, code, message } = (thrown ?? {}) as { kind?: unknown; code?: unknown; message?: unknown }
  const known = [kind, code].find((value) => typeof value === 'string' && value !== '')
  return { kind: String(known ?? 'phase-failed'), message: String(message ?? thrown) }
}

/** Rejects when the lease is over or the server stops, whatever the work does. */
async function withinLease(
  { timers, leaseMs }: Pick<WorkJobDeps, 'timers' | 'leaseMs'>,
  stopping: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const aborter = new AbortController()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = (message: string) => {
    const reason = Object.assign(new Error(message), { kind: 'timeout' })
    aborter.abort(reason)
    reject(reason)
  }
  const onStop = () => abort('the server stops')
  const cancel = timers.after(leaseMs, () => abort(`not done within ${leaseMs} ms`))
  stopping.addEventListener('abort', onStop)
  try {
    if (stopping.aborted) onStop()
    await Promise.race([work(aborter.signal), aborted])
  } finally {
    cancel()
    stopping.removeEventListener('abort', onStop)
  }
}
