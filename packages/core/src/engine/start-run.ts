import {
  type EpochMs,
  EVERY_ROW,
  type FlowKeys,
  type IdGenerator,
  isRefusal,
  isRetryable,
  perdureError,
  type RunRecord,
  type RunStore,
  type SessionStore,
  type TakenSlot,
  toJsonText,
  type YieldTurn,
} from '@perdure/ports'
import { createKeyedMutex } from '../concurrency/mutex.ts'
import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'
import { commitOnce } from '../idempotency/commit-once.ts'
import type { Recall } from '../idempotency/recall.ts'
import type { Reply } from '../idempotency/reply.ts'
import { createRunKeyed } from '../idempotency/run-keyed.ts'
import type { PhaseHolder } from '../lifecycle/phase.ts'
import type { AbortRun } from '../runs/abort-request.ts'
import { refuseOverQuota } from '../runs/subject-limits.ts'
import { findSessionForRun } from '../sessions/find-session-for-run.ts'
import { refuseOtherAgent } from '../sessions/refuse-other-agent.ts'
import { sessionWrites } from '../sessions/session-writes.ts'
import { checkInput } from '../targets/check-input.ts'
import type { RunTarget, RunTargets } from '../targets/run-target.ts'
import { type AwaitOutcomeDeps, awaitOutcome } from './await-outcome.ts'
import { claimThread, refuseBusyThread, refuseHiddenThread } from './continued-thread.ts'
import { turnsAhead, turnsToInterrupt } from './earlier-turn.ts'
import type { RunSeed } from './forks/run-seed.ts'
import { INTERRUPTED } from './interrupted.ts'
import { agentBusy, NO_SLOT } from './lanes/admission.ts'
import { debounce, takeDebounceSlot } from './lanes/debounce.ts'
import type { RunLines } from './lanes/run-line.ts'
import type { Launch } from './live-runs.ts'
import { acceptedFlow, chosenTarget, newRun, type RunRequestBody } from './new-run.ts'
import { type Claimed, planCombined, planStart, type StartDecision } from './plan-start.ts'
import { planReplacement, withReplaced } from './replace-turns.ts'
import { refuseMissingFile, runFileWrites } from './run-file-writes.ts'
import { mustClaimKey, withShortStart } from './short-start.ts'
import type { StartRunRequest } from './start-request.ts'
import type { ThreadClaims } from './thread-claims.ts'

export type { RunRequestBody }

export interface StartRunDeps extends AwaitOutcomeDeps, RetryDeps {
  readonly targets: RunTargets
  readonly runs: RunStore
  readonly sessions: SessionStore
  /** Whether a run may create the session that it names without `sessions:write`. Default: false. */
  readonly createSessionOnInvoke?: boolean | undefined
  readonly ids: IdGenerator
  readonly yieldTurn: YieldTurn
  readonly phase: PhaseHolder
  readonly abortRun: AbortRun
  readonly threadClaims: ThreadClaims
  /** The queued runs of all processes; missing if no other process uses the storage. */
  readonly lines?: RunLines | undefined
  readonly recall: Recall
  readonly maxResultBytes: number
  /** Passes the deadline of the new run to the timer driver. */
  readonly onDue: (dueAt: number) => void
  /** Passes the start time of a run that starts later to the timer driver. */
  readonly onStartTime: (startAt: EpochMs) => void
}

/**
 * Starts a run of an agent or a workflow. One commit stores the run, its first event, its session and the record of its
 * idempotency key.
 *
 * @throws PerdureError `agent-not-found`, `workflow-not-found`, `version-unknown`, `invalid-input`, `session-not-found`,
 *   `file-not-found`, `thread-not-found`, `agent-busy`, `queue-full`, `quota-exceeded`, `server-draining`, `idempotency-conflict`
 */
export type StartRun = (request: StartRunRequest) => Promise<Reply>

export function createStartRun(deps: StartRunDeps): StartRun {
  const { targets, phase, runWaiters, threadClaims } = deps
  const debounceMutex = createKeyedMutex()
  const runKeyed = createRunKeyed(deps)

  const accept = async (request: StartRunRequest, target: RunTarget, input: unknown) => {
    const flow = acceptedFlow(request, target, input)
    const commit = () =>
      commitOnce(deps, request.key, (conflict) => {
        refuseMissingFile(conflict)
        refuseOtherAgent(conflict)
        refuseOverQuota(deps, conflict)
        const taken = conflict?.type === 'lane.take' ? { slot: conflict.current } : undefined
        return decide(deps, request, { target, input, flow, taken })
      })
    if (flow?.debounce === undefined) return commit()
    // Concurrent first requests of a debounce key would each find no run to join. Between processes, a slot decides.
    return debounceMutex(`${request.principal.subject} ${flow.debounce}`, commit)
  }

  const claimAndAccept = async (request: StartRunRequest, target: RunTarget) => {
    const input = await inputOf(target, request)
    await refuseHiddenThread(deps.runs, request)
    const releaseThread = claimThread(threadClaims, target, request.body.threadId)
    return accept(request, target, input).finally(releaseThread)
  }

  return async (request) => {
    if (phase.current() !== 'ready') throw perdureError('server-draining', { retryAfter: 5_000 })
    const target = chosenTarget(targetOf(targets, request), request.body)
    const start = () => claimAndAccept(request, target)
    const { key } = request
    const isClaimed = isExclusive(request, target) || mustClaimKey(deps, request, target)
    const keyed = key && { key, isExclusive: isClaimed }
    const once = keyed === undefined ? await start() : await runKeyed(keyed, start)
    if (once.kind === 'replayed') return once.reply

    const { claimed, seed } = once.decision
    const { run, slot, toInterrupt } = claimed
    const launched = once.decision.launched?.()
    const isPatient = request.waitMs !== undefined
    const wait = () => (request.answer === 'outcome' ? runWaiters.wait(run.id, { isPatient }) : undefined)
    const outcome = launched ?? wait()
    // The server may stop before the start time; the caller then gets the queued run.
    if (run.startAt !== undefined) runWaiters.postpone(run)
    begin(deps, { run, target, slot, isLaunched: launched !== undefined }, seed)
    for (const older of toInterrupt) await interrupt(deps, older)
    return outcome === undefined ? once.decision.reply : awaitOutcome(deps, request, { run, outcome, slot })
  }
}

type Taken = { readonly slot: TakenSlot | undefined }

interface Starting {
  readonly target: RunTarget
  readonly input: unknown
  readonly flow: FlowKeys | undefined
  /** Another process has taken a slot of a lane of the run. The run then starts as queued, unless it is refused. */
  readonly taken: Taken | undefined
}

async function decide(
  deps: StartRunDeps,
  request: StartRunRequest,
  { target, input, flow, taken }: Starting,
): Promise<StartDecision> {
  const seed = request.seed === undefined ? undefined : await request.seed()
  // Read first, so that the runs of a session wait for their slots in the order of their creation.
  const { sessionId } = { ...request.body, ...seed?.members }
  const ownOnly = request.newSession !== undefined
  const finding = { ...deps, createSessionOnInvoke: deps.createSessionOnInvoke === true || ownOnly, ownOnly }
  const session = sessionId === undefined ? undefined : await findSessionForRun(finding, request.principal, sessionId)
  const run: RunRecord = { ...newRun(deps, request, { target, input, flow }), ...seed?.members }
  const combined = target.debounce === undefined ? undefined : await debounce(deps.runs, target.debounce, run)
  if (combined !== undefined) return planCombined(deps, request, { combined, session })
  await refuseBusyThread(deps.runs, request)
  const more = seed?.writes(run) ?? (await request.origin?.writes(run)) ?? []
  const said = seed?.isMessage === false ? withoutMessage(run) : run
  const ofSession = sessionWrites(deps, said, { session, metadata: request.newSession?.metadata })
  const first = deps.lines === undefined ? [] : takeDebounceSlot(run, taken?.slot)
  if (taken !== undefined) refuseBusyLane(target, taken)
  const replacement = await planReplacement(deps.runs, run, request.body.replaces)
  const turn = { target, run, replaced: replacement.active }
  const turns = await turnsAhead(deps.runs, turn)
  const interrupting = await turnsToInterrupt(deps.runs, turn, turns)
  const ahead = await deps.lines?.ahead(target, run)
  const isBehind = taken !== undefined || ahead !== undefined || turns.length > 0
  const holder = taken?.slot?.freeAt === undefined ? taken?.slot?.runId : undefined
  const claimed = claimSlot(deps, { target, startsQueued: seed !== undefined || isBehind, holder }, run)
  // The session of a repeated run holds its files already, and its caller may not own them.
  const files = seed === undefined || request.body.sessionId !== undefined ? runFileWrites(run) : []
  const writes = [...first, ...more, ...ofSession, ...files, ...replacement.writes]
  const active = [...interrupting, ...replacement.active]
  const plan = planStart(deps, request, { claimed: withReplaced(claimed, { ...replacement, active }), seed, writes })
  return withShortStart(deps, { request, target }, plan)
}

/** Launches the run that is stored now, unless it was launched before. */
function begin(
  { runner, onDue, onStartTime }: StartRunDeps,
  { isLaunched, ...launch }: Launch & { readonly isLaunched: boolean },
  seed: RunSeed | undefined,
): void {
  const { status, deadlineAt, startedAt, startAt } = launch.run
  if (startedAt !== undefined) launch.slot.started(startedAt)
  if (startAt !== undefined) onStartTime(startAt)
  else if (status !== 'suspended' && !isLaunched) runner.launch(launch)
  if (deadlineAt !== undefined) onDue(deadlineAt)
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

/** Whether the run claims a thread or a lane. */
function isExclusive({ body }: StartRunRequest, { concurrency }: RunTarget): boolean {
  const isLimited = concurrency === 'session' ? body.sessionId !== undefined : concurrency !== 'parallel'
  return body.threadId !== undefined || isLimited
}

/** @throws PerdureError `agent-busy` when a run in another process holds the slot that the run needs, and is not waited for */
function refuseBusyLane({ onBusy }: RunTarget, { slot }: Taken): void {
  if (onBusy === 'reject' && slot?.freeAt === undefined) throw agentBusy()
}

interface Claiming {
  readonly target: RunTarget
  /** Whether the run is created as queued in any case, as a run with recorded calls: a new run reads no calls. */
  readonly startsQueued: boolean
  /** The run that holds a slot of a lane in another process. */
  readonly holder: string | undefined
}

/** Claims a slot. A run whose slot is granted immediately is created as running, any other run as queued. */
function claimSlot(
  { runner, clock, executor }: StartRunDeps,
  { target, startsQueued, holder }: Claiming,
  run: RunRecord,
): Claimed {
  if (run.status === 'suspended' || run.startAt !== undefined) return { run, slot: NO_SLOT, toInterrupt: [] }
  const ahead = [...runner.runsAhead(target, run), ...(holder === undefined ? [] : [holder])]
  const toInterrupt = target.onBusy === 'interrupt' ? [...new Set(ahead)] : []
  const slot = runner.claimSlot(target, run)
  const isRunning = slot.isGranted() && !startsQueued
  const startedAt = target.rateLimit === undefined ? run.createdAt : clock.now()
  return { run: isRunning ? { ...run, status: 'running', execution: 1, executor, startedAt } : run, slot, toInterrupt }
}

/**
 * Aborts an older run. If the abort fails, the new run is not rejected: it stays queued until the older run has ended.
 */
async function interrupt(deps: StartRunDeps, runId: string): Promise<void> {
  const abort = () => deps.abortRun({ runId, reason: INTERRUPTED, visibility: EVERY_ROW })
  try {
    await abort()
  } catch (error) {
    if (!isRefusal(error)) throw error
    if (!isRetryable(error)) return
    retryTransient(deps, abort, { shouldStop: () => !deps.runner.isLive(runId) }).catch((last: unknown) =>
      deps.logger.info('could not interrupt the older run', { runId, error: String(last) }),
    )
  }
}
