import { plusMs, type RunRecord, type Timers, type TriggerOverview } from '@perdure/ports'
import type { Daemon } from '../lifecycle/daemon.ts'
import { createSupervisedLoop } from '../lifecycle/supervised-loop.ts'
import { isTerminal } from '../runs/run-states.ts'
import { count, type DecideDueDeps, decideDue, type Progress } from './decide-due.ts'
import { placeAnew, watchClock } from './place-anew.ts'
import { placeIdle, placeIdleTriggers } from './place-idle.ts'
import { startPending } from './start-pending.ts'

export interface TriggerDaemonDeps extends DecideDueDeps {
  readonly timers: Timers
}

export interface TriggerHealth extends TriggerOverview {
  readonly state: 'stopped' | 'running' | 'failing'
}

export interface TriggerDaemon extends Daemon {
  /** Looks now at what was created, changed or decided. */
  wake(): void
  /** A run has come to an outcome. */
  observe(run: RunRecord): void
  /** As of the last look. Costs no storage. */
  health(): TriggerHealth
}

/** All triggers of a server at once. */
const BATCH = 1_000
const LATER_MS = 1_000
const PRUNE_EVERY_MS = 3_600_000
const PRUNE_ROWS = 500
/** How long the history keeps a fire that is over. */
const FIRES_KEPT_MS = 30 * 86_400_000

/** Fires triggers when they are due, and starts the runs of fires that wait. */
export function createTriggerDaemon(deps: TriggerDaemonDeps): TriggerDaemon {
  const { triggers, fires, clock, logger, unitOfWork } = deps
  const isClockSet = watchClock(clock)
  let overview: TriggerOverview = { active: 0, disabled: 0 }
  let mustPlaceAnew = true
  let mustPlaceIdle = true
  let hasIdle = false
  let prunedAtMs = Number.NEGATIVE_INFINITY
  let faults: unknown[] = []

  /** One trigger's fault is not another's. */
  const apart = async (triggerId: string, work: () => Promise<Progress>): Promise<Progress> => {
    try {
      return await work()
    } catch (error) {
      logger.error('trigger not handled', error, { triggerId })
      faults.push(error)
      return 'later'
    }
  }

  const place = async () => {
    if (isClockSet()) mustPlaceAnew = true
    if (mustPlaceAnew) {
      await placeAnew(deps)
      mustPlaceAnew = false
      mustPlaceIdle = true
    }
    if (!mustPlaceIdle) return
    // What happens from now on asks for it again.
    mustPlaceIdle = false
    try {
      hasIdle = await placeIdleTriggers(deps)
    } catch (error) {
      mustPlaceIdle = true
      throw error
    }
  }

  const decideAll = async (): Promise<boolean> => {
    let isLater = false
    for (const trigger of await triggers.due(clock.now(), BATCH)) {
      const progress = await apart(trigger.id, async () => {
        if (trigger.kind === 'idle') await placeIdle(deps, trigger)
        return decideDue(deps, trigger.id)
      })
      isLater ||= progress === 'later'
    }
    return isLater
  }

  /** The first of each trigger, again and again, until all that are left wait. */
  const startAll = async (): Promise<boolean> => {
    const waiting = new Set<string>()
    let isLater = false
    for (;;) {
      const pending = await fires.firstPending(BATCH)
      const startable = pending.filter(({ id }) => !waiting.has(id))
      if (startable.length === 0) return isLater
      for (const fire of startable) {
        const progress = await apart(fire.triggerId, async () => {
          const outcome = await startPending(deps, fire)
          if (outcome !== 'done') waiting.add(fire.id)
          return outcome === 'waits' ? 'done' : outcome
        })
        if (progress === 'later') waiting.add(fire.id)
        isLater ||= progress === 'later'
      }
    }
  }

  const prune = async () => {
    if (clock.monotonicMs() - prunedAtMs < PRUNE_EVERY_MS) return
    const before = plusMs(clock.now(), -FIRES_KEPT_MS)
    const outcome = await unitOfWork.commit([{ type: 'fire.prune', before, limit: PRUNE_ROWS }])
    const isAll = !outcome.committed || outcome.counts[0] !== PRUNE_ROWS
    if (isAll) prunedAtMs = clock.monotonicMs()
  }

  const loop = createSupervisedLoop(deps, {
    name: 'triggers',
    async work() {
      faults = []
      await place()
      const isLater = [await startAll(), await decideAll()].includes(true)
      await prune()
      overview = await triggers.overview()
      if (faults.length > 0) throw faults[0]
      if (isLater) return LATER_MS
      return overview.nextDueAt === undefined ? undefined : overview.nextDueAt - clock.now()
    },
  })

  const countEnd = async ({ triggerId = '', status }: RunRecord) => {
    const trigger = await triggers.find(triggerId)
    if (trigger !== undefined) count(deps, trigger, { status: status === 'completed' ? 'completed' : 'failed' })
  }

  return {
    ...loop,
    wake() {
      mustPlaceIdle = true
      loop.wake()
    },
    observe(run) {
      const { triggerId, parentRunId } = run
      if (triggerId === undefined) {
        if (parentRunId !== undefined || !hasIdle) return
        mustPlaceIdle = true
        return loop.wake()
      }
      if (!isTerminal(run.status)) return
      countEnd(run).catch((error: unknown) => logger.warn('fire not counted', { error: String(error) }))
      loop.wake()
    },
    health: () => ({ ...overview, state: loop.state() }),
  }
}
