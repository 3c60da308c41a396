import { AppError, type Logger, type RunRecord, type Span, type Timers, type Tracer } from '@perdure/ports'
import { createPassingMap } from '../collections/cell-map.ts'
import { persistently } from '../concurrency/retry-transient.ts'
import { lifecycleEvent } from '../runs/run-events.ts'
import type { RunTarget, RunTargets } from '../targets/run-target.ts'
import { endRunSpan, leaveRunSpan, startRunSpan, suspendRunSpan } from '../tracing/run-span.ts'
import { failSpan } from '../tracing/step-span.ts'
import type { Admission, Entry, Place } from './admission.ts'
import { announce, endRun, type RunEnd } from './end-run.ts'
import { type Execution, type ExecutionDeps, endOf, startExecution, type Verdict } from './execution.ts'
import { logStart } from './run-log.ts'

export interface RunnerDeps extends Omit<ExecutionDeps, 'callChild'> {
  readonly admission: Admission
  readonly targets: RunTargets
  readonly timers: Timers
  readonly logger: Logger
  readonly tracer: Tracer
  readonly abortGraceMs: number
  readonly callChild: ExecutionDeps['callChild']
}

export type AbortReason = 'aborted' | 'timeout' | 'shutdown' | 'budget-exhausted'

export interface Runner {
  /** Claims a place for a run before it exists. @throws as `Admission.enter` */
  enter(target: RunTarget, run: Pick<RunRecord, 'id' | 'sessionId'>): Place
  /** The runs that must end before a new one of an `interrupt` target may start. */
  aheadOf(target: RunTarget, sessionId: string | undefined): readonly string[]
  /** Executes the run as soon as its place is granted. Its record must be committed. */
  launch(launch: Launch): void
  /**
   * Lines up a committed queued run, behind those that wait; one that waits already, or whose target is not registered,
   * is left alone.
   */
  relaunch(run: RunRecord): void
  /** Whether the run executes or waits here. */
  isLive(runId: string): boolean
  /** Tells an executing run that something it waits for may be there. */
  notify(runId: string): void
  /** Fires the signal of a run that was ended from outside and frees its place, at the latest after the grace. */
  abort(runId: string, reason: AbortReason): void
  /** How many runs of a target execute and wait here. */
  countsOf(target: Pick<RunTarget, 'kind' | 'id'>): { readonly running: number; readonly queued: number }
  live(): readonly LiveRun[]
}

export interface Launch {
  readonly run: RunRecord
  readonly target: RunTarget
  readonly place: Place
}

export interface LiveRun extends Launch {
  readonly controller: AbortController
  execution?: Execution
  span?: Span
}

/** Executes runs in this process. */
export function createRunner(deps: RunnerDeps): Runner {
  const { admission, unitOfWork, clock, timers, logger, targets, tracer } = deps
  const lives = createPassingMap<string, LiveRun>()

  const forget = (live: LiveRun) => {
    live.place.leave()
    live.execution?.leave()
    if (lives.get(live.run.id)?.controller === live.controller) lives.delete(live.run.id)
  }

  /** Makes a waiting run running; `undefined` when it was ended in the meantime. */
  const promote = async (live: LiveRun): Promise<LiveRun | undefined> => {
    if (live.run.status === 'running') return live
    const at = clock.now()
    const run: RunRecord = { ...live.run, status: 'running', startedAt: live.run.startedAt ?? at }
    const { id: runId, attempt, startedAt } = run
    const outcome = await persistently(deps, () =>
      unitOfWork.commit([
        { type: 'run.transition', runId, from: ['queued'], attempt, change: { status: 'running', startedAt } },
        { type: 'event.append', events: [lifecycleEvent(run, 'run.started', { at })] },
      ]),
    )
    if (!outcome.committed) return undefined
    const promoted = { ...live, run }
    if (lives.get(runId)?.controller === live.controller) lives.set(runId, promoted)
    return promoted
  }

  const execute = async (waiting: LiveRun) => {
    const isFirst = waiting.run.status === 'running'
    const live = await promote(waiting)
    if (live === undefined) return forget(waiting)
    logStart(logger, live.run)
    const cancelTimeout = startTimeout(live)
    const span = startRunSpan(tracer, live.run)
    live.span = span
    try {
      const { run, target, controller } = live
      const execution = await startExecution(deps, { run, target, signal: controller.signal, isFirst, span })
      live.execution = execution
      const verdict = await execution.verdict
      if (await settle(live, execution, verdict)) endSpan(span, verdict)
    } catch (error) {
      failSpan(span, error)
      throw error
    } finally {
      leaveRunSpan(span, live.controller.signal)
      cancelTimeout()
      forget(live)
    }
  }

  /** Whether the verdict is what became of the run. */
  const settle = async (live: LiveRun, { journal }: Execution, verdict: Verdict): Promise<boolean> => {
    const unwritten = await journal.close()
    const isOurs = !live.controller.signal.aborted && verdict.kind !== 'dropped'
    const isWritten = isOurs && (await commitVerdict(live, verdict, unwritten.events))
    unwritten.settle(isWritten)
    if (!isWritten) logger.info('late result dropped', { runId: live.run.id, attempt: live.run.attempt })
    else if (verdict.kind === 'end' && verdict.end.finishReason === 'budget-exhausted') {
      live.controller.abort('budget-exhausted')
    }
    return isWritten
  }

  const commitVerdict = async (
    { run, execution }: LiveRun,
    verdict: Verdict,
    events: RunEnd['events'],
  ): Promise<boolean> => {
    if (verdict.kind === 'dropped') return false
    if (verdict.kind === 'end') {
      const end = await wholeEnd(verdict, execution, events)
      return (await persistently(deps, () => endRun(deps, run, end))) !== undefined
    }
    const { suspended, writes, waitingFor, dueAt } = verdict.plan()
    if (writes.length > 0) {
      const rest = { type: 'event.append', events: events ?? [] } as const
      const fence = { type: 'run.fence', runId: run.id, attempt: run.attempt } as const
      const outcome = await persistently(deps, () => unitOfWork.commit([fence, rest, ...writes]))
      if (!outcome.committed) return false
    }
    if (dueAt !== undefined) deps.onDue(dueAt)
    announce(deps, suspended, { detail: { waitingFor } })
    return true
  }

  /** The server itself could not carry the run to its end: it fails, so that nothing is left running without an owner. */
  const failUnexpectedly = async ({ run }: LiveRun, error: unknown) => {
    logger.error('run not settled', error, { runId: run.id })
    const reason = { code: 'run-failed', message: 'the server could not record what the run came to' }
    try {
      const end = { status: 'failed', finishReason: 'error', error: reason } as const
      const ended = await persistently(deps, () => endRun(deps, run, end))
      // It had an end that nobody here has heard of.
      if (ended === undefined) deps.settlements.giveUp(run.id, toAppError(error))
    } catch (cause) {
      deps.settlements.giveUp(run.id, toAppError(cause))
    }
  }

  const startTimeout = ({ run, controller }: LiveRun): (() => void) => {
    if (run.timeoutMs === undefined) return () => undefined
    return timers.after(run.timeoutMs, () => {
      if (controller.signal.aborted) return
      const usage = lives.get(run.id)?.execution?.used() ?? run.usage
      const end = { status: 'aborted', finishReason: 'timeout', reason: 'timeout', usage } as const
      persistently(deps, () => endRun(deps, run, end))
        .then((ended) => ended !== undefined && runner.abort(run.id, 'timeout'))
        .catch((error: unknown) => logger.error('time-out not recorded', error, { runId: run.id }))
    })
  }

  const runner: Runner = {
    enter: (target, run) => admission.enter(entryOf(target, run)),
    aheadOf(target, sessionId) {
      const { lane } = entryOf(target, { id: '', sessionId })
      return lane === undefined ? [] : admission.membersOf(lane)
    },
    launch(launch) {
      const live: LiveRun = { ...launch, controller: new AbortController() }
      lives.set(launch.run.id, live)
      launch.place.whenGranted(() => {
        execute(live).catch((error: unknown) => failUnexpectedly(live, error))
      })
    },
    relaunch(run) {
      if (lives.get(run.id)?.run.status === 'queued') return
      const target = targets.find(run.kind, run.targetId)
      if (target === undefined) {
        logger.warn('queued run waits for code that is not registered', {
          runId: run.id,
          kind: run.kind,
          id: run.targetId,
        })
        return
      }
      const place = admission.enter({ ...entryOf(target, run), onBusy: 'queue', isAccepted: true })
      runner.launch({ run, target, place })
    },
    notify: (runId) => lives.get(runId)?.execution?.notify(),
    abort(runId, reason) {
      const live = lives.get(runId)
      if (live === undefined || live.controller.signal.aborted) return
      live.controller.abort(reason)
      if (live.place.isGranted()) timers.after(deps.abortGraceMs, () => detach(live))
      else forget(live)
    },
    countsOf({ kind, id }) {
      const places = lives.values().filter(({ target }) => target.kind === kind && target.id === id)
      const running = places.filter(({ place }) => place.isGranted()).length
      return { running, queued: places.length - running }
    },
    isLive: (runId) => lives.has(runId),
    live: lives.values,
  }

  const detach = (live: LiveRun) => {
    if (lives.get(live.run.id)?.controller !== live.controller) return
    logger.warn('code ignores its abort signal: run detached', { runId: live.run.id, target: live.target.id })
    if (live.span !== undefined) leaveRunSpan(live.span, live.controller.signal)
    forget(live)
  }

  return runner
}

/** How a run ends, with all of its events and all that was used. */
async function wholeEnd(
  verdict: Extract<Verdict, { readonly kind: 'end' }>,
  execution: Execution | undefined,
  events: RunEnd['events'],
): Promise<RunEnd> {
  const isAlone = execution?.isAlone() === true
  const end = { ...endOf(verdict), isAlone, ...(events === undefined ? {} : { events }) }
  if (isAlone) return end
  const again = async (): Promise<RunEnd> => ({ ...end, ...(await execution?.usedAtEnd()), again })
  return again()
}

function entryOf(target: RunTarget, run: Pick<RunRecord, 'id' | 'sessionId'>): Entry {
  return { runId: run.id, lane: laneOf(target, run.sessionId), onBusy: target.onBusy }
}

/** Runs of one lane follow one another. */
export function laneOf({ kind, id, concurrency }: RunTarget, sessionId: string | undefined): string | undefined {
  if (concurrency === 'single') return `${kind}:${id}`
  return concurrency === 'session' && sessionId !== undefined ? `${kind}:${id} ${sessionId}` : undefined
}

function endSpan(span: Span, verdict: Verdict): void {
  if (verdict.kind === 'end') endRunSpan(span, verdict.end)
  else suspendRunSpan(span)
}

const toAppError = (error: unknown) =>
  error instanceof AppError ? error : new AppError('internal-error', { cause: error })
