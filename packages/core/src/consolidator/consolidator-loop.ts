import type { ConsolidationStore, EpochMs, JobPhase, JobQueue, UnitOfWork } from '@perdure/ports'
import type { Daemon } from '../lifecycle/daemon.ts'
import { createSupervisedLoop, type SupervisedLoop, type SupervisedLoopDeps } from '../lifecycle/supervised-loop.ts'
import type { StateHolder } from './consolidator-state.ts'
import { type BudgetLimits, dayOf, isExhausted, readBudget } from './daily-spend.ts'
import { extractTarget, newJob, PHASES } from './jobs.ts'
import type { WorkJob } from './work-job.ts'

export interface ConsolidatorLoopDeps extends SupervisedLoopDeps, Pick<Parameters<typeof newJob>[0], 'ids'> {
  readonly jobs: JobQueue
  readonly consolidation: ConsolidationStore
  readonly unitOfWork: UnitOfWork
  readonly workJob: WorkJob
  readonly state: StateHolder
  /** A session without a run or message for this long is idle. */
  readonly idleAfterMs: number
  readonly budget: BudgetLimits
  /** Phases that use the budget. When the budget is exhausted, these phases wait until the next day. */
  readonly budgetedPhases: ReadonlySet<JobPhase>
}

/** `stop` aborts the current job and resolves within ten seconds, even if a call hangs. */
export type ConsolidatorLoop = Daemon & Pick<SupervisedLoop, 'wake' | 'state'>

const STOP_MS = 10_000
const SESSION_BATCH = 100

/** Queues sessions that have become idle and runs due jobs, one at a time. */
export function createConsolidatorLoop(deps: ConsolidatorLoopDeps): ConsolidatorLoop {
  const { jobs, clock, timers, state, workJob, idleAfterMs, isMine = () => true } = deps
  const stopping = new AbortController()

  const work = async (): Promise<number | undefined> => {
    // The jobs are for every process: `job.claim` gives each to one.
    if (isMine('consolidator-scan')) await queueIdleSessions(deps)
    for (;;) {
      const phases = await affordablePhases(deps)
      const [job] = stopping.signal.aborted ? [] : await jobs.due(phases, clock.now(), 1)
      if (job === undefined) break
      await state.refresh(dayOf(clock.now()))
      await workJob(job, stopping.signal)
    }
    await state.refresh(dayOf(clock.now()))
    const next = await jobs.nextDueAt(await affordablePhases(deps))
    return next === undefined ? idleAfterMs : Math.min(idleAfterMs, next - clock.now())
  }

  const loop = createSupervisedLoop(deps, { name: 'consolidator', work })
  return {
    ...loop,
    async stop() {
      stopping.abort()
      const { promise: timedOut, resolve } = Promise.withResolvers<void>()
      const cancel = timers.after(STOP_MS, resolve)
      await Promise.race([loop.stop(), timedOut])
      cancel()
    },
  }
}

async function queueIdleSessions({ consolidation, unitOfWork, clock, ids, idleAfterMs }: ConsolidatorLoopDeps) {
  const before = (clock.now() - idleAfterMs) as EpochMs
  for (;;) {
    const idle = await consolidation.idleSessions(before, SESSION_BATCH)
    if (idle.length === 0) return
    await unitOfWork.commit(
      idle.flatMap(({ sessionId, owner, changedAt }) => [
        { type: 'consolidation.seen', sessionId, changedAt } as const,
        { type: 'job.enqueue', job: newJob({ clock, ids }, extractTarget({ sessionId, owner })) } as const,
      ]),
    )
  }
}

async function affordablePhases({ consolidation, budget, clock, budgetedPhases }: ConsolidatorLoopDeps) {
  if (budgetedPhases.size === 0 || !isExhausted(await readBudget(consolidation, budget, clock.now()))) return PHASES
  return PHASES.filter((phase) => !budgetedPhases.has(phase))
}
