import {
  AppError,
  EVERY_ROW,
  type IdGenerator,
  isRetryable,
  NO_USAGE,
  plusMs,
  type RunBudget,
  type RunKind,
  type RunRecord,
  type RunStore,
  type SessionStore,
  toJsonText,
  type Visibility,
  type Write,
} from '@perdure/ports'
import { ACTIVE_RUN_STATUSES } from '@perdure/protocol'
import type { Principal } from '../auth/principal.ts'
import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'
import { commitOnce, type Decision } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Recall } from '../idempotency/recall.ts'
import type { Reply } from '../idempotency/reply.ts'
import { isLongerThan } from '../json/json-members.ts'
import type { PhaseHolder } from '../lifecycle/phase.ts'
import type { AbortRun } from '../runs/abort-request.ts'
import { findThread } from '../runs/find-thread.ts'
import { lifecycleEvent } from '../runs/run-events.ts'
import { acceptedReply } from '../runs/run-outcome.ts'
import { sessionWrites } from '../sessions/session-writes.ts'
import { checkInput } from '../targets/check-input.ts'
import type { RunTarget, RunTargets } from '../targets/run-target.ts'
import type { Slot } from './admission.ts'
import { type AwaitOutcomeDeps, awaitOutcome } from './await-outcome.ts'
import { laneOf } from './lane.ts'
import { type ThreadClaims, threadBusy } from './thread-claims.ts'

export interface StartRunDeps extends AwaitOutcomeDeps, RetryDeps {
  readonly targets: RunTargets
  readonly runs: RunStore
  readonly sessions: SessionStore
  readonly ids: IdGenerator
  readonly phase: PhaseHolder
  readonly abortRun: AbortRun
  readonly threadClaims: ThreadClaims
  readonly recall: Recall
  readonly maxResultBytes: number
  /** Passes the deadline of the new run to the timer driver. */
  readonly onDeadline: (at: number) => void
}

export interface RunRequestBody {
  readonly input?: unknown
  readonly sessionId?: string | undefined
  readonly userId?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly timeoutMs?: number | undefined
  readonly budget?: RunBudget | undefined
  /** For workflows: the thread to continue; a new thread when missing. */
  readonly threadId?: string | undefined
}

/** The trigger that starts the run; a run that a client starts has no origin. */
export interface RunOrigin {
  readonly triggerId: string
  /**
   * Writes to add to the commit that starts the run; called again after a write conflict.
   * @throws to refuse the start
   */
  writes(run: RunRecord): Promise<readonly Write[]>
  /** Returns the reply to the start request; when missing, the reply is the usual one for an accepted run. */
  reply?(run: RunRecord): Reply
}

export interface StartRunRequest {
  readonly target: { readonly kind: RunKind; readonly id: string }
  readonly body: RunRequestBody
  readonly principal: Principal
  /** Which threads the caller may continue; all of them when missing. */
  readonly visibility?: Visibility | undefined
  readonly key?: KeyedRequest | undefined
  readonly origin?: RunOrigin
  readonly traceparent?: string | undefined
  /** `outcome` answers 200 once the run has ended or is suspended; `accepted` answers 202 once the run is stored. */
  readonly answer: 'outcome' | 'accepted'
  /**
   * With `outcome`: answers 202 when the run has no outcome after this time. Milliseconds. If set, a run that waits on
   * a timer or a child has no outcome yet; if missing, such a wait counts as an outcome.
   */
  readonly waitMs?: number | undefined
}

/**
 * Starts a run of an agent or a workflow. One commit stores the run, its first event, its session and the record of its
 * idempotency key.
 *
 * @throws AppError `agent-not-found`, `workflow-not-found`, `invalid-input`, `session-not-found`, `thread-not-found`,
 *   `agent-busy`, `queue-full`, `server-draining`, `idempotency-conflict`, `idempotency-in-flight`
 */
export type StartRun = (request: StartRunRequest) => Promise<Reply>

/** A new run, the slot it has claimed, and the runs it interrupts. */
interface Claimed {
  readonly run: RunRecord
  readonly slot: Slot
  readonly toInterrupt: readonly string[]
}

export function createStartRun(deps: StartRunDeps): StartRun {
  const { targets, phase, runWaiters, runner, threadClaims } = deps

  return async (request) => {
    if (phase.current() !== 'ready') throw new AppError('server-draining', { retryAfterMs: 5_000 })
    const target = targets.get(request.target.kind, request.target.id)
    const earlier = await earlierAnswer(deps, request, target)
    if (earlier !== undefined) return earlier
    const input = await checkInput(target, request.body.input)

    const releaseThread = claimThread(threadClaims, target, request.body.threadId)
    const once = await commitOnce(deps, request.key, async () => {
      const run = newRun(deps, request, { target, input })
      const session = await sessionWrites(deps, run, request.principal)
      await refuseBusyThread(deps, request)
      const more = (await request.origin?.writes(run)) ?? []
      return planStart(deps, request, { claimed: claimSlot(deps, target, run), writes: [...more, ...session] })
    }).finally(releaseThread)
    if (once.kind === 'replayed') return once.reply

    const { run, slot, toInterrupt } = once.decision.claimed
    const isPatient = request.waitMs !== undefined
    const outcome = request.answer === 'outcome' ? runWaiters.wait(run.id, { isPatient }) : undefined
    runner.launch({ run, target, slot })
    if (run.deadlineAt !== undefined) deps.onDeadline(run.deadlineAt)
    for (const older of toInterrupt) await interrupt(deps, older)
    return outcome === undefined ? once.decision.reply : awaitOutcome(deps, request, { run, outcome, slot })
  }
}

/**
 * Looks up a stored answer before the run claims a lane or a thread, because a repeated request would find it busy. A
 * request that claims neither skips this read: its commit detects the repeated key.
 */
async function earlierAnswer(
  { recall }: StartRunDeps,
  { key, body }: StartRunRequest,
  target: RunTarget,
): Promise<Reply | undefined> {
  const isExclusive = body.threadId !== undefined || laneOf(target, body.sessionId) !== undefined
  return key !== undefined && isExclusive ? recall(key) : undefined
}

function newRun(
  { ids, clock, maxResultBytes }: StartRunDeps,
  { body, principal, origin, traceparent }: StartRunRequest,
  { target, input }: { readonly target: RunTarget; readonly input: unknown },
): RunRecord {
  const text = toJsonText(input)
  if (isLongerThan(text, maxResultBytes)) throw new AppError('body-too-large', { hint: 'raise runs.maxResultBytes' })
  const budget = smallerOf(body.budget, target.budget)
  const { wallClockMs } = budget ?? {}
  const createdAt = clock.now()
  return {
    id: ids.newId('run'),
    kind: target.kind,
    targetId: target.id,
    threadId: target.kind === 'workflow' ? (body.threadId ?? ids.newId('thread')) : undefined,
    sessionId: body.sessionId,
    owner: principal.subject,
    userId: body.userId,
    status: 'queued',
    input: text,
    usage: NO_USAGE,
    attempt: 1,
    timeoutMs: shorter(body.timeoutMs, target.timeoutMs),
    budget,
    deadlineAt: wallClockMs === undefined ? undefined : plusMs(createdAt, wallClockMs),
    depth: 0,
    triggerId: origin?.triggerId,
    traceparent,
    metadata: body.metadata ?? {},
    createdAt,
  }
}

/** Takes the smaller value of each limit. */
function smallerOf(asked: RunBudget | undefined, most: RunBudget | undefined): RunBudget | undefined {
  if (asked === undefined || most === undefined) return asked ?? most
  return {
    tokens: shorter(asked.tokens, most.tokens),
    costUsd: shorter(asked.costUsd, most.costUsd),
    toolCalls: shorter(asked.toolCalls, most.toolCalls),
    wallClockMs: shorter(asked.wallClockMs, most.wallClockMs),
  }
}

const shorter = (a: number | undefined, b: number | undefined) =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)

/**
 * Claims the thread to continue. Without a thread id it claims nothing: the run gets a new thread, which no other
 * request can claim.
 *
 * @throws AppError `agent-busy`
 */
function claimThread(claims: ThreadClaims, { kind, id }: RunTarget, threadId: string | undefined): () => void {
  if (kind !== 'workflow' || threadId === undefined) return () => undefined
  return claims.claim({ workflowId: id, threadId })
}

/**
 * Rejects a run in a thread that still executes or that the caller cannot see.
 *
 * @throws AppError `thread-not-found`, `agent-busy`
 */
async function refuseBusyThread(
  { runs }: StartRunDeps,
  { target: { kind, id }, body: { threadId }, visibility = EVERY_ROW }: StartRunRequest,
): Promise<void> {
  if (threadId === undefined) return
  await findThread(runs, { workflowId: id, threadId }, visibility)
  const filter = { kind, targetId: id, threadId, statuses: ACTIVE_RUN_STATUSES } as const
  const { items } = await runs.list(filter, { limit: 1, order: 'asc' }, EVERY_ROW)
  if (items.length > 0) throw threadBusy()
}

/** Claims a slot. A run whose slot is granted immediately is created as running, any other run as queued. */
function claimSlot({ runner }: StartRunDeps, target: RunTarget, run: RunRecord): Claimed {
  const toInterrupt = target.onBusy === 'interrupt' ? runner.runsAhead(target, run.sessionId) : []
  const slot = runner.claimSlot(target, run)
  const initial: RunRecord = slot.isGranted() ? { ...run, status: 'running', startedAt: run.createdAt } : run
  return { run: initial, slot, toInterrupt }
}

interface StartPlan {
  readonly claimed: Claimed
  readonly writes: readonly Write[]
}

function planStart(
  deps: StartRunDeps,
  { answer, origin }: StartRunRequest,
  { claimed, writes }: StartPlan,
): Decision & Pick<StartPlan, 'claimed'> {
  const { run, slot } = claimed
  const isAwaited = answer === 'outcome'
  const position = slot.position()
  const type = run.status === 'running' ? 'run.started' : 'run.queued'
  const event = lifecycleEvent(run, type, { at: run.createdAt, ...(position === undefined ? {} : { position }) })
  return {
    claimed,
    writes: [{ type: 'run.insert', run }, ...writes, { type: 'event.append', events: [event] }],
    reply: origin?.reply?.(run) ?? (isAwaited ? { status: 202 } : acceptedReply(run, deps.basePath, { position })),
    runId: run.id,
    remember: !isAwaited,
    discard: slot.release,
  }
}

/**
 * Aborts an older run. If the abort fails, the new run is not rejected: it stays queued until the older run has ended.
 */
async function interrupt(deps: StartRunDeps, runId: string): Promise<void> {
  const abort = () => deps.abortRun({ runId, reason: 'interrupted by a newer run', visibility: EVERY_ROW })
  try {
    await abort()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (!isRetryable(error)) return
    retryTransient(deps, abort, { shouldStop: () => !deps.runner.isLive(runId) }).catch((last: unknown) =>
      deps.logger.info('could not interrupt the older run', { runId, error: String(last) }),
    )
  }
}
