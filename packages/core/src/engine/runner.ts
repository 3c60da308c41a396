import {
  type Conflict,
  type EpochMs,
  type Logger,
  plusMs,
  type RunRecord,
  type RunStore,
  type TakenSlot,
  type Timers,
  type Tracer,
} from '@perdure/ports'
import { retryTransient } from '../concurrency/retry-transient.ts'
import { wasParked } from '../runs/parked.ts'
import { lifecycleEvent } from '../runs/run-events.ts'
import type { RunTarget, RunTargets } from '../targets/run-target.ts'
import { abandonRunSpan, startRunSpan } from '../tracing/run-span.ts'
import { failSpan } from '../tracing/step-span.ts'
import { type CommitVerdictDeps, commitVerdict } from './commit-verdict.ts'
import { contentOf, wasEdited } from './edited-message.ts'
import { type Execution, type ExecutionDeps, startExecution, type Verdict } from './execution.ts'
import { failRun } from './fail-run.ts'
import { collectAfterStart } from './held-events.ts'
import type { Admission, Slot } from './lanes/admission.ts'
import { concurrencyLane } from './lanes/lane.ts'
import { createLineOrder } from './lanes/line-order.ts'
import { queuedSince, type RunLines } from './lanes/run-line.ts'
import { slotRequestOf, takeLanes } from './lanes/slot-request.ts'
import { createLiveRuns, type Launch, type LiveRun } from './live-runs.ts'
import { parkQueued } from './park-run.ts'
import { rewind } from './rewind.ts'
import { logStart } from './run-log.ts'
import { startRunTimeout } from './run-timeout.ts'
import type { Supersede } from './supersede.ts'
import { createTurnQueue, type TurnQueue } from './turn-queue.ts'
import { endSpan } from './verdict-span.ts'

export interface RunnerDeps extends ExecutionDeps, Omit<CommitVerdictDeps, 'relaunch'> {
  readonly admission: Admission
  readonly runs: Pick<RunStore, 'find' | 'list'>
  readonly supersede: Supersede
  readonly targets: RunTargets
  readonly timers: Timers
  readonly logger: Logger
  readonly tracer: Tracer
  readonly abortGraceMs: number
  /** The name of this process in its runs. */
  readonly executor?: string | undefined
  /** The queued runs of all processes; missing if no other process uses the storage. */
  readonly lines?: RunLines | undefined
  /** Called for a run that something outside this execution has ended or changed. */
  readonly onChangedOutside: (runId: string) => void
}

export type AbortReason = 'aborted' | 'timeout' | 'shutdown' | 'budget-exhausted' | 'retried' | 'parked' | 'joined'

export interface Runner {
  /** Claims a slot for a run that is not stored yet. @throws as `Admission.claim` */
  claimSlot(target: RunTarget, run: RunRecord): Slot
  /** The runs that a new run of an `interrupt` target aborts: in a session, the turn that works, and none that waits. */
  runsAhead(target: RunTarget, run: RunRecord): readonly string[]
  /** Executes the run as soon as its slot is granted. Its record must be committed, unless its start is held. */
  launch(launch: Launch): void
  /**
   * Queues a run that is committed as queued, behind the runs that already wait. Does nothing for a run that already
   * waits or whose target is not registered.
   *
   * @param waitingSince since when the run waits; now when missing
   */
  relaunch(run: RunRecord, waitingSince?: EpochMs): void
  /** Queues a run that waits for its slot again, because it has changed. */
  requeue(run: RunRecord): void
  /** The runs that wait for the end of a turn. */
  readonly behindTurns: Omit<TurnQueue, 'enter'>
  /** Whether the run, or this attempt of it, executes or waits for its slot in this process. */
  isLive(runId: string, attempt?: number): boolean
  /** Makes an executing run check its waits again. */
  notify(runId: string): void
  /** Fires the signal of a run that was ended from outside, and frees its slot after `abortGraceMs` at the latest. */
  abort(runId: string, reason: AbortReason): void
  /** How many runs of a target execute and how many wait for a slot, in this process. */
  countsOf(target: Pick<RunTarget, 'kind' | 'id'>): { readonly running: number; readonly queued: number }
  live(): readonly LiveRun[]
}

const LANE_RETRY_MS = 1_000

/** Executes runs in this process. */
export function createRunner(deps: RunnerDeps): Runner {
  const { admission, unitOfWork, clock, timers, logger, targets, tracer, executor } = deps
  const liveRuns = createLiveRuns()
  const relaunchInOrder = (run: RunRecord) => {
    if (!liveRuns.has(run.id)) runner.relaunch(run, queuedSince(run))
  }
  const turnQueue = createTurnQueue(deps, (runs) =>
    admission.holdDuring(async () => {
      for (const run of runs) relaunchInOrder(run)
    }),
  )
  const lineOrder = createLineOrder({ ...deps, liveRuns }, relaunchInOrder)

  /** Sets a queued run to `running`. Resolves with the conflict when the run has changed or a lane has no free slot. */
  const promote = async (live: LiveRun): Promise<LiveRun | Conflict> => {
    if (live.run.status === 'running') return live
    const at = clock.now()
    const { id: runId, attempt, execution, startedAt = at } = live.run
    const run: RunRecord = { ...live.run, status: 'running', execution: execution + 1, executor, startedAt }
    const rewound = await retryTransient(deps, () => rewind(deps, run))
    const startAt = contentOf(run)
    // The journal writes the events of a run that was parked, once its code continues.
    const started = wasParked(run) ? [] : [lifecycleEvent(run, 'run.started', { at })]
    const outcome = await retryTransient(deps, () =>
      unitOfWork.commit([
        {
          ...{ type: 'run.transition', runId, from: ['queued'], attempt, execution, startAt },
          change: { status: 'running', executor, startedAt },
        },
        ...takeLanes(runId, live.slot, at),
        { type: 'event.append', events: [...started, ...rewound] },
      ]),
    )
    if (!outcome.committed) return outcome.conflict
    live.slot.started(at)
    return liveRuns.withRun(live, run)
  }

  /** Another process holds a slot of a lane of the run: the run waits until another slot, or later this one, is free. */
  const queueAgain = (run: RunRecord, taken: TakenSlot | undefined) => {
    if (taken !== undefined)
      admission.restore([{ ...taken, freeAt: taken.freeAt ?? plusMs(clock.now(), LANE_RETRY_MS) }])
    const relaunch = () => relaunchInOrder(run)
    if (taken === undefined) timers.after(LANE_RETRY_MS, relaunch)
    else relaunch()
  }

  const start = async (waiting: LiveRun) => {
    const isFirst = waiting.run.status === 'running'
    if (!isFirst && (await turnQueue.enter(waiting, () => liveRuns.evict(waiting)))) return
    const ahead = isFirst ? undefined : await lineOrder.ahead(waiting)
    if (ahead !== undefined) return lineOrder.letPass(ahead, waiting)
    const live = await promote(waiting)
    if ('type' in live) return afterConflict(waiting, live)
    await execute(live, isFirst).catch((error: unknown) => failUnexpectedly(live, error))
  }

  const afterConflict = (waiting: LiveRun, conflict: Conflict) => {
    liveRuns.evict(waiting)
    if (conflict.type === 'lane.take') queueAgain(waiting.run, conflict.current)
    else if (wasEdited(waiting.run, conflict)) runner.requeue(conflict.current)
    else deps.onChangedOutside(waiting.run.id)
  }

  const execute = async (live: LiveRun, isFirst: boolean) => {
    logStart(logger, live.run)
    const own = depsOf(live)
    const cancelTimeout = startRunTimeout(own, live, () => runner.abort(live.run.id, 'timeout'))
    const span = startRunSpan(tracer, live.run)
    live.span = span
    let isRecorded = false
    try {
      const { run, target, controller } = live
      const execution = await startExecution(own, { run, target, signal: controller.signal, isFirst, span })
      live.execution = execution
      const verdict = await execution.verdict
      isRecorded = await recordVerdict(own, live, { execution, verdict })
      if (isRecorded) endSpan(span, verdict, execution.used())
    } catch (error) {
      failSpan(span, error)
      throw error
    } finally {
      abandonRunSpan(span, live.controller.signal)
      cancelTimeout()
      liveRuns.evict(live)
    }
    if (!isRecorded) deps.onChangedOutside(live.run.id)
  }

  /** @returns whether the verdict was committed; false when the run was ended from outside */
  const recordVerdict = async (
    own: CommitVerdictDeps,
    live: LiveRun,
    { execution, verdict }: { readonly execution: Execution; readonly verdict: Verdict },
  ): Promise<boolean> => {
    const unwritten = await execution.journal.close()
    const isOurs = !live.controller.signal.aborted && verdict.kind !== 'dropped'
    const isWritten = isOurs && (await commitVerdict(own, live, { verdict, unwritten }))
    unwritten.settle(isWritten)
    if (!isWritten) logger.info('late result dropped', { runId: live.run.id, attempt: live.run.attempt })
    else if (verdict.kind === 'end' && verdict.end.finishReason === 'budget-exhausted') {
      live.controller.abort('budget-exhausted')
    }
    return isWritten
  }

  const failUnexpectedly = (live: LiveRun, error: unknown) => failRun(depsOf(live), live.run, error)

  const runner: Runner = {
    claimSlot: (target, run) => admission.claim(slotRequestOf(target, run)),
    runsAhead(target, run) {
      const lane = concurrencyLane(target, run)
      if (lane === undefined) return []
      const runs = target.concurrency === 'session' ? admission.holdersOf(lane) : admission.runsInLane(lane)
      return runs.slice(0, Math.max(0, runs.length - lane.limit + 1))
    },
    launch(launch) {
      const live = liveRuns.add(launch)
      launch.slot.whenGranted(() => {
        start(live).catch((error: unknown) => failUnexpectedly(live, error))
      })
    },
    relaunch(run, waitingSince) {
      if (liveRuns.get(run.id)?.run.status === 'queued') return
      const target = targets.ofRun(run)
      // In a cluster, another process may have the code.
      if (target === undefined && run.version !== undefined && executor === undefined) return park(run, run.version)
      if (target === undefined) {
        logger.warn('queued run has no registered code; leaving it queued', {
          runId: run.id,
          kind: run.kind,
          id: run.targetId,
        })
        return
      }
      const slot = admission.claim({ ...slotRequestOf(target, run), waitingSince, onBusy: 'queue', isAccepted: true })
      runner.launch({ run, target, slot })
    },
    requeue(run) {
      const live = liveRuns.get(run.id)
      if (live !== undefined && live.run.status !== 'queued') return
      if (live !== undefined) liveRuns.evict(live)
      runner.relaunch(run, queuedSince(run))
    },
    behindTurns: turnQueue,
    notify: (runId) => liveRuns.get(runId)?.execution?.notify(),
    abort(runId, reason) {
      const live = liveRuns.get(runId)
      if (live === undefined || live.controller.signal.aborted) return
      live.controller.abort(reason)
      if (live.slot.isGranted()) timers.after(deps.abortGraceMs, () => detach(live))
      else liveRuns.evict(live)
    },
    countsOf({ kind, id }) {
      const ofTarget = liveRuns.list().filter(({ target }) => target.kind === kind && target.id === id)
      const running = ofTarget.filter(({ slot }) => slot.isGranted()).length
      return { running, queued: ofTarget.length - running }
    },
    isLive(runId, attempt) {
      const live = liveRuns.get(runId)
      return live !== undefined && (attempt === undefined || live.run.attempt === attempt)
    },
    live: liveRuns.list,
  }

  const executing = { ...deps, relaunch: runner.relaunch }
  /** While the start of a run is held, whatever its execution commits decides about the start, too. */
  const depsOf = ({ start }: LiveRun) =>
    start === undefined
      ? executing
      : { ...executing, unitOfWork: start.unitOfWork, collector: collectAfterStart(executing.collector, start) }
  const park = (run: RunRecord, version: string) => {
    parkQueued(deps, run, version).catch((error: unknown) =>
      logger.error('could not park a run whose version is not registered', error, { runId: run.id }),
    )
  }

  const detach = (live: LiveRun) => {
    if (!liveRuns.isCurrent(live)) return
    logger.warn('run detached: its code ignores the abort signal', { runId: live.run.id, target: live.target.id })
    if (live.span !== undefined) abandonRunSpan(live.span, live.controller.signal)
    liveRuns.evict(live)
  }

  return runner
}
