import { AppError, type Logger, type RunRecord, type Timers } from '@berth/ports'
import type { RegisteredAgent } from '../agents/registry.ts'
import type { Admission, Entry, Place } from './admission.ts'
import { createEmitter, type Emitter, type EmitterDeps } from './emitter.ts'
import { type EndRunDeps, endRun, type RunEnd } from './end-run.ts'
import { invokeAgent } from './invoke-agent.ts'
import { persistently } from './persistently.ts'
import { toRunError } from './run-error.ts'
import { lifecycleEvent } from './run-events.ts'

export interface RunnerDeps extends EndRunDeps, EmitterDeps {
  readonly admission: Admission
  readonly timers: Timers
  readonly logger: Logger
  readonly maxResultBytes: number
  readonly abortGraceMs: number
}

export type AbortReason = 'aborted' | 'timeout' | 'shutdown'

export interface Runner {
  /** Claims a place for a run before it exists. @throws as `Admission.enter` */
  enter(agent: RegisteredAgent, run: Pick<RunRecord, 'id' | 'sessionId'>): Place
  /** The run that must end before this one of an `interrupt` agent may start. */
  holderOf(agent: RegisteredAgent, sessionId: string | undefined): string | undefined
  /** Executes the run as soon as its place is granted. Its record must be committed. */
  launch(launch: Launch): void
  /** Fires the signal of a run that was ended from outside and frees its place, at the latest after the grace. */
  abort(runId: string, reason: AbortReason): void
  /** How many runs of an agent execute and wait here. */
  countsOf(agentId: string): { readonly running: number; readonly queued: number }
  live(): readonly LiveRun[]
}

export interface Launch {
  readonly run: RunRecord
  readonly agent: RegisteredAgent
  readonly place: Place
}

export interface LiveRun extends Launch {
  readonly controller: AbortController
}

/** Executes runs in this process. */
export function createRunner(deps: RunnerDeps): Runner {
  const { admission, unitOfWork, clock, timers, logger } = deps
  const lives = new Map<string, LiveRun>()

  const forget = ({ run, place }: LiveRun) => {
    place.leave()
    lives.delete(run.id)
  }

  /** Makes a waiting run running; false when it was ended in the meantime. */
  const promote = async (live: LiveRun): Promise<LiveRun | undefined> => {
    if (live.run.status === 'running') return live
    const startedAt = clock.now()
    const run: RunRecord = { ...live.run, status: 'running', startedAt }
    const outcome = await persistently(deps, () =>
      unitOfWork.commit([
        {
          type: 'run.transition',
          runId: run.id,
          from: ['queued'],
          attempt: run.attempt,
          change: { status: 'running', startedAt },
        },
        { type: 'event.append', events: [lifecycleEvent(run, 'run.started', { at: startedAt })] },
      ]),
    )
    if (!outcome.committed) return undefined
    const promoted = { ...live, run }
    lives.set(run.id, promoted)
    return promoted
  }

  const execute = async (waiting: LiveRun) => {
    const live = await promote(waiting)
    if (live === undefined) return forget(waiting)
    const emitter = createEmitter(deps, live.run)
    const cancelTimeout = startTimeout(live)
    try {
      await finish(live, emitter, await outcomeOf(live, emitter))
    } finally {
      cancelTimeout()
      forget(live)
    }
  }

  const outcomeOf = async ({ run, agent, controller }: LiveRun, emitter: Emitter): Promise<RunEnd> => {
    const { signal } = controller
    const { maxResultBytes } = deps
    try {
      const result = await invokeAgent({ run, agent, signal, emitter, logger, maxResultBytes })
      return { status: 'completed', finishReason: 'completed', result }
    } catch (thrown) {
      return { status: 'failed', finishReason: 'error', error: toRunError(thrown) }
    }
  }

  const finish = async ({ run, controller }: LiveRun, emitter: Emitter, end: RunEnd) => {
    const unwritten = await emitter.close()
    const isOurs = !controller.signal.aborted
    const ended = isOurs
      ? await persistently(deps, () => endRun(deps, run, { ...end, events: unwritten.events }))
      : undefined
    unwritten.settle(ended !== undefined)
    if (ended === undefined) logger.info('late result dropped', { runId: run.id, attempt: run.attempt })
  }

  const startTimeout = ({ run, controller }: LiveRun): (() => void) => {
    if (run.timeoutMs === undefined) return () => undefined
    return timers.after(run.timeoutMs, () => {
      if (controller.signal.aborted) return
      persistently(deps, () => endRun(deps, run, { status: 'aborted', finishReason: 'timeout', reason: 'timeout' }))
        .then((ended) => ended !== undefined && runner.abort(run.id, 'timeout'))
        .catch((error: unknown) => logger.error('time-out not recorded', error, { runId: run.id }))
    })
  }

  const runner: Runner = {
    enter: (agent, run) => admission.enter(entryOf(agent, run)),
    holderOf(agent, sessionId) {
      const { lane } = entryOf(agent, { id: '', sessionId })
      return lane === undefined ? undefined : admission.holderOf(lane)
    },
    launch(launch) {
      const live: LiveRun = { ...launch, controller: new AbortController() }
      lives.set(launch.run.id, live)
      launch.place.whenGranted(() => {
        execute(live).catch((error: unknown) => {
          logger.error('run not settled', error, { runId: launch.run.id })
          deps.settlements.giveUp(launch.run.id, toAppError(error))
        })
      })
    },
    abort(runId, reason) {
      const live = lives.get(runId)
      if (live === undefined || live.controller.signal.aborted) return
      live.controller.abort(reason)
      if (live.place.isGranted()) timers.after(deps.abortGraceMs, () => detach(live))
      else forget(live)
    },
    countsOf(agentId) {
      const places = [...lives.values()].filter(({ agent }) => agent.id === agentId).map(({ place }) => place)
      const running = places.filter((place) => place.isGranted()).length
      return { running, queued: places.length - running }
    },
    live: () => [...lives.values()],
  }

  const detach = (live: LiveRun) => {
    if (!lives.has(live.run.id)) return
    logger.warn('agent ignores its abort signal: run detached', { runId: live.run.id, agentId: live.agent.id })
    forget(live)
  }

  return runner
}

function entryOf(agent: RegisteredAgent, run: Pick<RunRecord, 'id' | 'sessionId'>): Entry {
  const { concurrency, onBusy, id } = agent
  if (concurrency === 'single') return { runId: run.id, lane: id, onBusy }
  const isLane = concurrency === 'session' && run.sessionId !== undefined
  return { runId: run.id, lane: isLane ? `${id} ${run.sessionId}` : undefined, onBusy }
}

const toAppError = (error: unknown) =>
  error instanceof AppError ? error : new AppError('internal-error', { cause: error })
