import { plusMs, type RunRecord, type Timers, type TriggerOverview } from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import type { Daemon } from '../lifecycle/daemon.ts'
import { createSupervisedLoop, type SupervisedLoop } from '../lifecycle/supervised-loop.ts'
import { watchClock } from './clock-watch.ts'
import { countFires, type DecideDueDeps, decideDue, type Progress } from './decide-due.ts'
import { rescheduleAll } from './reschedule-all.ts'
import { isIdleKind, scheduleIdle, scheduleIdleTriggers } from './schedule-idle.ts'
import { startPending } from './start-pending.ts'

export interface TriggerDaemonDeps extends DecideDueDeps {
  readonly timers: Timers
  /** Whether the end of the run may have added a pending fire. */
  readonly isScored: (run: RunRecord) => boolean
}

export interface TriggerHealth extends TriggerOverview {
  readonly state: ReturnType<SupervisedLoop['state']>
}

export interface TriggerDaemon extends Daemon {
  /** Wakes the daemon to process new or changed triggers and pending fires. */
  wake(): void
  /** Must be called for every run that has ended or was suspended. */
  observe(run: RunRecord): void
  /** The state as of the last pass or `refresh`, without reading the storage. Without the duty, it is at most 30 seconds old. */
  health(): TriggerHealth
  /** Reads the numbers of `health`, which are 0 before the first pass. */
  refresh(): Promise<void>
}

/** Rows per query; at least the maximum number of triggers of a server, so that one query returns all due triggers. */
const BATCH = 1_000
/** Decisions of one trigger per pass. */
const MAX_ROUNDS = 200
const RETRY_DELAY_MS = 1_000
const PRUNE_EVERY_MS = 3_600_000
const PRUNE_ROWS = 500
/** How long the history keeps a fire that has ended. */
const FIRES_KEPT_MS = 30 * 86_400_000

interface PassResult {
  /** Whether a trigger has to be retried soon. */
  readonly needsRetry: boolean
  readonly faults: readonly unknown[]
}

/** Creates the daemon that fires due triggers and starts the runs of pending fires. */
export function createTriggerDaemon(deps: TriggerDaemonDeps): TriggerDaemon {
  const { triggers, fires, clock, logger, unitOfWork } = deps
  const isClockSet = watchClock(clock)
  /** The kinds of triggers whose next occurrence has to be recomputed. */
  const stale = new Set<'clock' | 'idle'>(['clock', 'idle'])
  let overview: TriggerOverview = { active: 0, disabled: 0 }
  let hasIdle = false
  let prunedAtMs = Number.NEGATIVE_INFINITY

  /** Keeps a fault of one trigger from affecting other triggers. */
  const isolated = async (triggerId: string, work: () => Promise<Progress>): Promise<PassResult> => {
    try {
      return { needsRetry: (await work()) === 'later', faults: [] }
    } catch (error) {
      logger.error('cannot process trigger', error, { triggerId })
      return { needsRetry: true, faults: [error] }
    }
  }

  const reschedule = async () => {
    if (isClockSet()) stale.add('clock')
    if (stale.has('clock')) {
      await rescheduleAll(deps)
      stale.delete('clock')
      stale.add('idle')
    }
    // Cleared before the work, so that a change during the work adds it again.
    if (!stale.delete('idle')) return
    try {
      hasIdle = await scheduleIdleTriggers(deps)
    } catch (error) {
      stale.add('idle')
      throw error
    }
  }

  /**
   * Decides one occurrence of each due trigger per round, oldest first, so that a trigger with a backlog delays the
   * others by one decision. Each round starts the pending fires too.
   */
  const decideAll = async (): Promise<PassResult> => {
    const passes: PassResult[] = []
    const settled = new Set<string>()
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const due = (await triggers.due(clock.now(), BATCH)).filter(({ id }) => !settled.has(id))
      if (due.length === 0) return mergeResults(passes)
      for (const trigger of due) {
        const decide = async () => {
          if (round === 0 && isIdleKind(trigger)) await scheduleIdle(deps, trigger)
          const progress = await decideDue(deps, trigger.id)
          if (progress !== 'again') settled.add(trigger.id)
          return progress
        }
        const pass = await isolated(trigger.id, decide)
        if (pass.faults.length > 0) settled.add(trigger.id)
        passes.push(pass)
      }
      passes.push(await startAll())
    }
    return mergeResults([...passes, { needsRetry: true, faults: [] }])
  }

  /** Starts the first pending fire of each trigger, repeatedly, until every remaining fire has to wait. */
  const startAll = async (): Promise<PassResult> => {
    const waiting = new Set<string>()
    const passes: PassResult[] = []
    for (;;) {
      const pending = await fires.firstPending(BATCH)
      const startable = pending.filter(({ id }) => !waiting.has(id))
      if (startable.length === 0) return mergeResults(passes)
      for (const fire of startable) {
        const start = async () => {
          const outcome = await startPending(deps, fire)
          if (outcome !== 'done') waiting.add(fire.id)
          return outcome === 'waits' ? 'done' : outcome
        }
        const pass = await isolated(fire.triggerId, start)
        if (pass.needsRetry) waiting.add(fire.id)
        passes.push(pass)
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

  const refresh = async () => {
    overview = await triggers.overview()
  }

  const loop = createSupervisedLoop(deps, {
    name: 'triggers',
    duty: 'triggers',
    watch: refresh,
    async work() {
      await reschedule()
      const { needsRetry, faults } = mergeResults([await startAll(), await decideAll()])
      await prune()
      await refresh()
      if (faults.length > 0) throw faults[0]
      if (needsRetry) return RETRY_DELAY_MS
      return overview.nextDueAt === undefined ? undefined : overview.nextDueAt - clock.now()
    },
  })

  const countEndedRun = async ({ triggerId = '', status }: RunRecord) => {
    const trigger = await triggers.find(triggerId)
    if (trigger !== undefined) countFires(deps, trigger, { status: status === 'completed' ? 'completed' : 'failed' })
  }

  return {
    ...loop,
    wake() {
      stale.add('idle')
      loop.wake()
    },
    refresh,
    observe(run) {
      const { triggerId, parentRunId } = run
      if (isTerminal(run.status) && deps.isScored(run)) loop.wake()
      if (triggerId === undefined) {
        if (parentRunId !== undefined || !hasIdle) return
        stale.add('idle')
        return loop.wake()
      }
      if (!isTerminal(run.status)) return
      countEndedRun(run).catch((error: unknown) =>
        logger.warn('cannot record the end of a fire in the metrics', { error: String(error) }),
      )
      loop.wake()
    },
    health: () => ({ ...overview, state: loop.state() }),
  }
}

const mergeResults = (passes: readonly PassResult[]): PassResult => ({
  needsRetry: passes.some(({ needsRetry }) => needsRetry),
  faults: passes.flatMap(({ faults }) => faults),
})
