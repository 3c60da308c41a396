import {
  AppError,
  EVERY_ROW,
  type IdGenerator,
  NO_USAGE,
  plusMs,
  type RunBudget,
  type RunKind,
  type RunRecord,
  type RunStore,
  type SessionStore,
  type Timers,
  toJsonText,
  type Visibility,
  type Write,
} from '@perdure/ports'
import type { Principal } from '../auth/principal.ts'
import { isTransient, type PersistentlyDeps, persistently } from '../concurrency/retry-transient.ts'
import { type CommitOnceDeps, commitOnce, type Decision, toStoredResponse } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Recall } from '../idempotency/recall.ts'
import type { Reply } from '../idempotency/reply.ts'
import { isLongerThan } from '../json/json-members.ts'
import type { PhaseHolder } from '../lifecycle/phase.ts'
import type { AbortRun } from '../runs/abort-request.ts'
import { findThread } from '../runs/find-thread.ts'
import { lifecycleEvent } from '../runs/run-events.ts'
import { acceptedReply, type Settled, settledReply } from '../runs/run-outcome.ts'
import { endsByItself, type Settlements } from '../runs/run-waiters.ts'
import { sessionWrites } from '../sessions/session-writes.ts'
import { checkInput } from '../targets/check-input.ts'
import type { RunTarget, RunTargets } from '../targets/run-target.ts'
import type { Place } from './admission.ts'
import { laneOf, type Runner } from './runner.ts'
import { type ThreadClaims, threadBusy } from './thread-claims.ts'

export interface StartRunDeps extends CommitOnceDeps, PersistentlyDeps {
  readonly targets: RunTargets
  readonly runs: RunStore
  readonly sessions: SessionStore
  readonly ids: IdGenerator
  readonly runner: Runner
  readonly settlements: Settlements
  readonly phase: PhaseHolder
  readonly abortRun: AbortRun
  readonly threadClaims: ThreadClaims
  readonly recall: Recall
  readonly basePath: string
  readonly maxResultBytes: number
  /** Tells the timer driver when the run's budget of time ends. */
  readonly onDeadline: (at: number) => void
}

export interface RunRequestBody {
  readonly input?: unknown
  readonly sessionId?: string | undefined
  readonly userId?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly timeoutMs?: number | undefined
  readonly budget?: RunBudget | undefined
  /** For workflows: the line of checkpoints it belongs to; a new one when missing. */
  readonly threadId?: string | undefined
}

/** What lets a run start besides its request. */
export interface RunOrigin {
  readonly triggerId: string
  /**
   * What is written in the commit that starts the run; asked again when another writer was faster.
   * @throws what keeps the run from being started
   */
  writes(run: RunRecord): Promise<readonly Write[]>
  /** The answer; the one of an accepted run when missing. */
  reply?(run: RunRecord): Reply
}

export interface StartRunRequest {
  readonly target: { readonly kind: RunKind; readonly id: string }
  readonly body: RunRequestBody
  readonly principal: Principal
  /** The runs whose threads it may go on with; every one when missing. */
  readonly visibility?: Visibility | undefined
  readonly key?: KeyedRequest | undefined
  readonly origin?: RunOrigin
  readonly traceparent?: string | undefined
  /** `outcome` answers 200 once the run has come to one; `accepted` answers 202 once it is durable. */
  readonly answer: 'outcome' | 'accepted'
  /**
   * With `outcome`: answers 202 when the run has not come to one by then. To wait for a timer or a child is none, unless
   * this is missing. Milliseconds.
   */
  readonly waitMs?: number | undefined
}

/**
 * Starts a run of an agent or a workflow. The run, its first events, its session and the record of the key are one commit.
 *
 * @throws AppError `agent-not-found`, `workflow-not-found`, `invalid-input`, `session-not-found`, `thread-not-found`, `agent-busy`,
 *   `queue-full`, `server-draining`, `idempotency-conflict`, `idempotency-in-flight`
 */
export type StartRun = (request: StartRunRequest) => Promise<Reply>

interface Prepared {
  readonly run: RunRecord
  readonly place: Place
  readonly interrupts: readonly string[]
}

export function createStartRun(deps: StartRunDeps): StartRun {
  const { targets, phase, settlements, runner, threadClaims } = deps

  return async (request) => {
    if (phase.current() !== 'ready') throw new AppError('server-draining', { retryAfterMs: 5_000 })
    const target = targets.get(request.target.kind, request.target.id)
    const answered = await answeredBefore(deps, request, target)
    if (answered !== undefined) return answered
    const input = await checkInput(target, request.body.input)

    let prepared: Prepared | undefined
    const releaseThread = claimThread(threadClaims, target, request.body.threadId)
    const once = await commitOnce(deps, request.key, async () => {
      const run = newRun(deps, request, { target, input })
      const session = await sessionWrites(deps, run, request.principal)
      await refuseThread(deps, request)
      const more = (await request.origin?.writes(run)) ?? []
      prepared = enter(deps, target, run)
      return decide(deps, request, { prepared, writes: [...more, ...session] })
    }).finally(releaseThread)
    if (once.kind === 'replayed' || prepared === undefined) return (once as { reply: Reply }).reply

    const { run, place, interrupts } = prepared
    const isPatient = request.waitMs !== undefined
    const settled = request.answer === 'outcome' ? settlements.wait(run.id, { isPatient }) : undefined
    runner.launch({ run, target, place })
    if (run.deadlineAt !== undefined) deps.onDeadline(run.deadlineAt)
    for (const ahead of interrupts) await interrupt(deps, ahead)
    return settled === undefined ? once.decision.reply : awaitOutcome(deps, request, { run, settled, place })
  }
}

/**
 * The answer of a repeated request that would take a place others wait for. Any other meets that answer in its commit,
 * which spares every new request a look.
 */
async function answeredBefore(
  { recall }: StartRunDeps,
  { key, body }: StartRunRequest,
  target: RunTarget,
): Promise<Reply | undefined> {
  const takesPlace = body.threadId !== undefined || laneOf(target, body.sessionId) !== undefined
  return key !== undefined && takesPlace ? recall(key) : undefined
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

/** Of each limit the smaller one. */
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

/** A thread that gets its id only now is nobody else's. @throws AppError `agent-busy` */
function claimThread(claims: ThreadClaims, { kind, id }: RunTarget, threadId: string | undefined): () => void {
  if (kind !== 'workflow' || threadId === undefined) return () => undefined
  return claims.claim({ workflowId: id, threadId })
}

/**
 * A thread is one line: its runs follow one another, and none goes on with what its principal does not see.
 *
 * @throws AppError `thread-not-found`, `agent-busy`
 */
async function refuseThread(
  { runs }: StartRunDeps,
  { target: { kind, id }, body: { threadId }, visibility = EVERY_ROW }: StartRunRequest,
): Promise<void> {
  if (threadId === undefined) return
  await findThread(runs, { workflowId: id, threadId }, visibility)
  const filter = { kind, targetId: id, threadId, statuses: ['queued', 'running', 'suspended'] } as const
  const { items } = await runs.list(filter, { limit: 1, order: 'asc' }, EVERY_ROW)
  if (items.length > 0) throw threadBusy()
}

/** Claims a place, which decides whether the run is born running or queued. */
function enter({ runner }: StartRunDeps, target: RunTarget, run: RunRecord): Prepared {
  const interrupts = target.onBusy === 'interrupt' ? runner.aheadOf(target, run.sessionId) : []
  const place = runner.enter(target, run)
  const born: RunRecord = place.isGranted() ? { ...run, status: 'running', startedAt: run.createdAt } : run
  return { run: born, place, interrupts }
}

function decide(
  deps: StartRunDeps,
  { answer, origin }: StartRunRequest,
  { prepared, writes }: { readonly prepared: Prepared; readonly writes: readonly Write[] },
): Decision {
  const { run, place } = prepared
  const isAwaited = answer === 'outcome'
  const position = place.position()
  const type = run.status === 'running' ? 'run.started' : 'run.queued'
  const event = lifecycleEvent(run, type, { at: run.createdAt, ...(position === undefined ? {} : { position }) })
  return {
    writes: [{ type: 'run.insert', run }, ...writes, { type: 'event.append', events: [event] }],
    reply: origin?.reply?.(run) ?? (isAwaited ? { status: 202 } : acceptedReply(run, deps.basePath, { position })),
    runId: run.id,
    remember: !isAwaited,
    discard: place.leave,
  }
}

/** The new run is accepted whatever happens: it waits for an older one that cannot be aborted yet. */
async function interrupt(deps: StartRunDeps, runId: string): Promise<void> {
  const abort = () => deps.abortRun({ runId, reason: 'interrupted by a newer run', visibility: EVERY_ROW })
  try {
    await abort()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (!isTransient(error)) return
    persistently(deps, abort, { isEnough: () => !deps.runner.isLive(runId) }).catch((last: unknown) =>
      deps.logger.info('older run not interrupted', { runId, error: String(last) }),
    )
  }
}

interface Awaited {
  readonly run: RunRecord
  readonly settled: Promise<Settled>
  readonly place: Place
}

async function awaitOutcome(deps: StartRunDeps, request: StartRunRequest, awaited: Awaited): Promise<Reply> {
  const { settled, run, place } = awaited
  const { waitMs } = request
  if (waitMs === undefined) return settledReply(await settled, deps.basePath)

  const first = await Promise.race([settled, elapsed(deps.timers, waitMs, settled)])
  const isOutcome = first !== 'elapsed' && !(first.run.status === 'suspended' && endsByItself(first.detail?.waitingFor))
  if (isOutcome) return settledReply(first, deps.basePath)
  // Its time is up, or the server's.
  const standing = first === 'elapsed' ? deps.settlements.hurry(run.id) : first
  const isGoingOn = standing === undefined || deps.runner.isLive(run.id)
  const { run: now, detail } = isGoingOn ? { run, detail: { position: place.position() } } : standing
  const reply = acceptedReply(now, deps.basePath, detail)
  if (request.key === undefined) return reply
  const response = toStoredResponse(reply)
  const outcome = await deps.unitOfWork.commit([{ type: 'idempotency.complete', runId: run.id, response }])
  const wasFirst = outcome.committed && outcome.counts[0] === 1
  return wasFirst ? reply : settledReply(await settled, deps.basePath)
}

/** `'elapsed'` after the delay; its timer is dropped when `settled` comes first. */
function elapsed(timers: Timers, delayMs: number, settled: Promise<unknown>): Promise<'elapsed'> {
  return new Promise((resolve) => {
    const cancel = timers.after(delayMs, () => resolve('elapsed'))
    settled.then(cancel, cancel)
  })
}
