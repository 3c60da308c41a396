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
import { newJob, nextTarget } from './jobs.ts'
import { createPhaseReads, type PhaseReadsDeps, type TrackedReads } from './phase-reads.ts'
import { countChanges, phaseWrites } from './phase-writes.ts'

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
 * Claims a job and runs its phase. One commit, which requires the lease, stores the result and completes the job, so
 * a process that crashes or loses the lease leaves neither a partial nor a repeated effect. A failed phase is retried
 * with backoff; after five attempts the job becomes a dead letter. When `stopping` aborts, the job returns to the queue
 * unchanged.
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

    const leased: LeasedJob = { job, lease, attempt: job.attempts + 1 }
    if (leased.attempt > MAX_ATTEMPTS) return releaseJob(deps, leased, { error: job.error ?? INTERRUPTED })
    try {
      await withinLease(deps, stopping, (signal) => runPhase(deps, leased, signal))
    } catch (error) {
      if (stopping.aborted) return releaseJob(deps, { ...leased, attempt: job.attempts }, { dueAt: clock.now() })
      await recordFailure(deps, leased, error)
    }
  }
}

/** A job that this process has claimed. */
interface LeasedJob {
  readonly job: JobRecord
  readonly lease: string
  readonly attempt: number
}

const INTERRUPTED: JobError = { kind: 'interrupted', message: 'the process ended during every attempt' }

async function runPhase(deps: WorkJobDeps, held: LeasedJob, signal: AbortSignal): Promise<void> {
  await retryConflicts(async () => {
    const now = deps.clock.now()
    const { job, attempt } = held
    const { phase, owner, sessionId } = job
    const view: ConsolidationJob = { phase, jobId: job.id, attempt, owner, sessionId, now, signal }
    const tracked = createPhaseReads(deps, view)
    const result = (await deps.phases[phase](view, tracked.reads)) ?? {}
    checkPhaseResult(result)
    const writes = await completionWrites(deps, held, { result, tracked, now })
    signal.throwIfAborted()
    const outcome = await deps.unitOfWork.commit(writes)
    // A conflict of `job.complete` means that another process has the lease and does the work.
    const isDone = outcome.committed || outcome.conflict.type === 'job.complete'
    return isDone ? undefined : CONFLICT
  }, MAX_COMMIT_ATTEMPTS)
}

interface PhaseRun {
  readonly result: PhaseResult
  readonly tracked: TrackedReads
  readonly now: EpochMs
}

/** The writes that check the lease, complete the job, and store the result of its phase. */
async function completionWrites(
  deps: WorkJobDeps,
  { job, lease }: LeasedJob,
  { result, tracked, now }: PhaseRun,
): Promise<readonly Write[]> {
  const { sessionId, phase } = job
  const throughSeq = tracked.lastReadSeq()
  const runAgain = result.hasMore === true || tracked.hasUnread()
  const next = runAgain ? undefined : nextTarget(job)
  const payload = toJsonText({ phase, jobId: job.id, changed: countChanges(result), sessionId })
  return [
    { type: 'job.complete', id: job.id, lease, now, runAgain },
    ...(await phaseWrites(deps.decisions, { ...job, now }, result)),
    ...(sessionId === undefined || throughSeq === 0
      ? []
      : [{ type: 'consolidation.extracted', sessionId, throughSeq } as const]),
    ...(result.spent === undefined ? [] : [spendWrite(result.spent, now)]),
    ...(next === undefined ? [] : [{ type: 'job.enqueue', job: newJob(deps, next) } as const]),
    { type: 'event.append', events: [{ topic: MEMORY_TOPIC, type: 'memory.consolidated', payload, at: now }] },
  ]
}

function spendWrite({ tokens, costUsd }: NonNullable<PhaseResult['spent']>, now: EpochMs): Write {
  const isValid = Number.isSafeInteger(tokens) && tokens >= 0 && Number.isFinite(costUsd) && costUsd >= 0
  if (!isValid) throw new Error('spent: tokens must be a whole number and costUsd a number, neither below 0')
  return { type: 'consolidation.spend', day: dayOf(now), spend: { tokens, costUsd } }
}

async function recordFailure(deps: WorkJobDeps, held: LeasedJob, thrown: unknown): Promise<void> {
  const { job, attempt } = held
  const error = errorOf(thrown)
  const isLast = attempt >= MAX_ATTEMPTS
  const fields = { jobId: job.id, phase: job.phase, attempt, kind: error.kind }
  if (isLast) deps.logger.error('consolidation failed permanently', thrown, fields)
  else deps.logger.warn('consolidation failed; will retry', { ...fields, message: error.message })
  const backoffMs = FIRST_BACKOFF_MS * BACKOFF_FACTOR ** (attempt - 1)
  await releaseJob(deps, held, { error, dueAt: isLast ? undefined : plusMs(deps.clock.now(), backoffMs) })
}

/** Releases the lease; the commit has no effect if another process already has the lease. */
async function releaseJob(
  { unitOfWork, clock }: WorkJobDeps,
  { job, lease, attempt }: LeasedJob,
  { error = job.error, dueAt }: { readonly error?: JobError | undefined; readonly dueAt?: EpochMs | undefined },
): Promise<void> {
  await unitOfWork.commit([{ type: 'job.fail', id: job.id, lease, now: clock.now(), attempts: attempt, error, dueAt }])
}

function errorOf(thrown: unknown): JobError {
  const { kind, code, message } = (thrown ?? {}) as { kind?: unknown; code?: unknown; message?: unknown }
  const known = [kind, code].find((value) => typeof value === 'string' && value !== '')
  return { kind: String(known ?? 'phase-failed'), message: String(message ?? thrown) }
}

/** Rejects when the lease expires or the server stops, even if the promise of the work never settles. */
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
  const onStop = () => abort('the server is stopping')
  const cancel = timers.after(leaseMs, () => abort(`not completed within ${leaseMs} ms`))
  stopping.addEventListener('abort', onStop)
  try {
    if (stopping.aborted) onStop()
    await Promise.race([work(aborter.signal), aborted])
  } finally {
    cancel()
    stopping.removeEventListener('abort', onStop)
  }
}
