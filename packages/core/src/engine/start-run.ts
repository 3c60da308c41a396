import {
  AppError,
  EVERY_ROW,
  type IdGenerator,
  isRetryable,
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
import { clientKeyOf } from '../idempotency/record-id.ts'
import type { Reply } from '../idempotency/reply.ts'
import type { PhaseHolder } from '../lifecycle/phase.ts'
import type { AbortRun } from '../runs/abort-request.ts'
import { findThread } from '../runs/find-thread.ts'
import { lifecycleEvent } from '../runs/run-events.ts'
import { acceptedReply } from '../runs/run-outcome.ts'
import { sessionWrites } from '../sessions/session-writes.ts'
import { checkInput } from '../targets/check-input.ts'
import { insertRun } from '../targets/insert-run.ts'
import type { RunTarget, RunTargets } from '../targets/run-target.ts'
import type { Slot } from './admission.ts'
import { type AwaitOutcomeDeps, awaitOutcome } from './await-outcome.ts'
import { laneOf } from './lane.ts'
import type { Launch } from './live-runs.ts'
import { newRun, type RunRequestBody } from './new-run.ts'
import type { RunSeed } from './run-seed.ts'
import { type ThreadClaims, threadBusy } from './thread-claims.ts'

export type { RunRequestBody }

export interface StartRunDeps extends AwaitOutcomeDeps, RetryDeps {
  readonly targets: RunTargets
  readonly runs: RunStore
  readonly sessions: SessionStore
  /** Whether a run may create the session that it names without `sessions:write`. Default: false. */
  readonly createSessionOnInvoke?: boolean | undefined
  readonly ids: IdGenerator
  readonly phase: PhaseHolder
  readonly abortRun: AbortRun
  readonly threadClaims: ThreadClaims
  readonly recall: Recall
  readonly maxResultBytes: number
  /** Passes the deadline of the new run to the timer driver. */
  readonly onDeadline: (at: number) => void
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
  /** Reads what the run takes from another run; called again after a write conflict. Such a run starts as queued. */
  readonly seed?: (() => Promise<RunSeed>) | undefined
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
 * @throws AppError `agent-not-found`, `workflow-not-found`, `version-unknown`, `invalid-input`, `session-not-found`,
 *   `thread-not-found`, `agent-busy`, `queue-full`, `server-draining`, `idempotency-conflict`, `idempotency-in-flight`
 */
export type StartRun = (request: StartRunRequest) => Promise<Reply>

/** A new run, the slot it has claimed, and the runs it interrupts. */
interface Claimed {
  readonly run: RunRecord
  readonly slot: Slot
  readonly toInterrupt: readonly string[]
}

export function createStartRun(deps: StartRunDeps): StartRun {
  const { targets, phase, runWaiters, threadClaims } = deps

  return async (request) => {
    if (phase.current() !== 'ready') throw new AppError('server-draining', { retryAfterMs: 5_000 })
    const target = targetOf(targets, request)
    const earlier = await earlierAnswer(deps, request, target)
    if (earlier !== undefined) return earlier
    const input = await inputOf(target, request)

    await refuseHiddenThread(deps, request)
    const releaseThread = claimThread(threadClaims, target, request.body.threadId)
    const once = await commitOnce(deps, request.key, () => decide(deps, request, { target, input })).finally(
      releaseThread,
    )
    if (once.kind === 'replayed') return once.reply

    const { claimed, seed } = once.decision
    const { run, slot, toInterrupt } = claimed
    const isPatient = request.waitMs !== undefined
    const outcome = request.answer === 'outcome' ? runWaiters.wait(run.id, { isPatient }) : undefined
    begin(deps, { run, target, slot }, seed)
    for (const older of toInterrupt) await interrupt(deps, older)
    return outcome === undefined ? once.decision.reply : awaitOutcome(deps, request, { run, outcome, slot })
  }
}

async function decide(
  deps: StartRunDeps,
  request: StartRunRequest,
  { target, input }: { readonly target: RunTarget; readonly input: unknown },
): Promise<StartDecision> {
  const seed = await request.seed?.()
  const run: RunRecord = { ...newRun(deps, request, { target, input }), ...seed?.members }
  const session = await sessionWrites(deps, seed?.isMessage === false ? withoutMessage(run) : run, request.principal)
  await refuseBusyThread(deps, request)
  const more = seed?.writes(run) ?? (await request.origin?.writes(run)) ?? []
  const claimed = claimSlot(deps, { target, isCopy: seed !== undefined }, run)
  return planStart(deps, request, { claimed, seed, writes: [...more, ...session] })
}

/** Launches the run that is stored now. */
function begin({ runner, onDeadline }: StartRunDeps, launch: Launch, seed: RunSeed | undefined): void {
  const { status, deadlineAt } = launch.run
  if (status !== 'suspended') runner.launch(launch)
  if (deadlineAt !== undefined) onDeadline(deadlineAt)
  seed?.onStored()
}

/** The input, parsed by the schema. A run that repeats another one without an input of its own takes the stored input. */
function inputOf(target: RunTarget, { seed, body }: StartRunRequest): unknown {
  return seed !== undefined && body.input === undefined ? null : checkInput(target, body.input)
}

/** The code of the new run. A run that repeats another one without a version executes the code of that run. */
function targetOf(targets: RunTargets, { target: { kind, id }, body: { version }, seed }: StartRunRequest): RunTarget {
  const ofSource = seed === undefined ? undefined : targets.ofRun({ kind, targetId: id, version })
  return ofSource ?? targets.get(kind, id, version)
}

const withoutMessage = (run: RunRecord): RunRecord => ({ ...run, input: toJsonText(null) })

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
 * Rejects a run in a thread that the caller cannot see. Called before the thread is claimed, so that such a caller
 * neither locks the thread nor learns that it is locked.
 *
 * @throws AppError `thread-not-found`
 */
async function refuseHiddenThread(
  { runs }: StartRunDeps,
  { target: { id }, body: { threadId }, visibility = EVERY_ROW }: StartRunRequest,
): Promise<void> {
  if (threadId !== undefined) await findThread(runs, { workflowId: id, threadId }, visibility)
}

/**
 * Rejects a run in a thread that still executes or that the caller cannot see.
 *
 * @throws AppError `thread-not-found`, `agent-busy`
 */
async function refuseBusyThread(deps: StartRunDeps, request: StartRunRequest): Promise<void> {
  const { threadId } = request.body
  if (threadId === undefined) return
  await refuseHiddenThread(deps, request)
  const { runs } = deps
  const { kind, id } = request.target
  const filter = { kind, targetId: id, threadId, statuses: ACTIVE_RUN_STATUSES } as const
  const { items } = await runs.list(filter, { limit: 1, order: 'asc' }, EVERY_ROW)
  if (items.length > 0) throw threadBusy()
}

interface Claiming {
  readonly target: RunTarget
  /** Whether the run begins with recorded calls: it then starts as queued, because a new run reads no calls. */
  readonly isCopy: boolean
}

/** Claims a slot. A run whose slot is granted immediately is created as running, any other run as queued. */
function claimSlot({ runner }: StartRunDeps, { target, isCopy }: Claiming, run: RunRecord): Claimed {
  if (run.status === 'suspended') return { run, slot: NO_SLOT, toInterrupt: [] }
  const toInterrupt = target.onBusy === 'interrupt' ? runner.runsAhead(target, run.sessionId) : []
  const slot = runner.claimSlot(target, run)
  const isRunning = slot.isGranted() && !isCopy
  const initial: RunRecord = isRunning ? { ...run, status: 'running', startedAt: run.createdAt } : run
  return { run: initial, slot, toInterrupt }
}

const nothing = () => undefined
const NO_SLOT: Slot = { isGranted: () => false, whenGranted: nothing, position: nothing, release: nothing }

interface StartPlan {
  readonly claimed: Claimed
  readonly seed: RunSeed | undefined
  readonly writes: readonly Write[]
}

/**
 * For all other runs, the path of the request names the agent or workflow, so the key can be found without this value.
 */
const startKeyOf = ({ forkOf, triggerId }: RunRecord, key: KeyedRequest | undefined): string | undefined =>
  key === undefined || (forkOf === undefined && triggerId === undefined) ? undefined : clientKeyOf(key.id)

type StartDecision = Decision & Pick<StartPlan, 'claimed' | 'seed'>

function planStart(
  deps: StartRunDeps,
  { answer, origin, key }: StartRunRequest,
  { claimed, seed, writes }: StartPlan,
): StartDecision {
  const { run, slot } = claimed
  const isAwaited = answer === 'outcome'
  const position = slot.position()
  const type = run.status === 'running' ? 'run.started' : 'run.queued'
  const event = lifecycleEvent(run, type, { at: run.createdAt, ...(position === undefined ? {} : { position }) })
  const events = [...(seed?.events(run) ?? []), ...(run.status === 'suspended' ? [] : [event])]
  return {
    ...{ claimed, seed },
    writes: [insertRun(deps.targets, run, startKeyOf(run, key)), ...writes, { type: 'event.append', events }],
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
