import type { ConsolidatorPhases, IdGenerator, Storage, UnitOfWork } from '@perdure/ports'
import type { CommitOnceDeps } from '../idempotency/commit-once.ts'
import type { PhaseHolder } from '../lifecycle/phase.ts'
import type { SupervisedLoopDeps } from '../lifecycle/supervised-loop.ts'
import type { FactDecisionsDeps } from '../memory/fact-decisions.ts'
import { createConsolidatorLoop } from './consolidator-loop.ts'
import { checkConsolidator, createStateHolder } from './consolidator-state.ts'
import { type BudgetLimits, dayOf } from './daily-spend.ts'
import { createDefaultPhases } from './default-phases.ts'
import { PHASES } from './jobs.ts'
import { createQueueConsolidation } from './queue-consolidation.ts'
import { createReadConsolidator } from './read-consolidator.ts'
import { createWorkJob } from './work-job.ts'

export interface ConsolidatorDeps
  extends Pick<Storage, 'facts' | 'factUpkeep' | 'memoryConflicts' | 'jobs' | 'consolidation' | 'sessions'>,
    SupervisedLoopDeps,
    Pick<CommitOnceDeps, 'idempotencyTtlMs'> {
  /** Must publish the events that it commits. */
  readonly unitOfWork: UnitOfWork
  readonly ids: IdGenerator
  readonly phase: PhaseHolder
  readonly decisions: FactDecisionsDeps
  /** Custom phases that replace the defaults. */
  readonly phaseOverrides: Partial<ConsolidatorPhases>
  readonly limits: ConsolidatorLimits
}

export interface ConsolidatorLimits extends BudgetLimits {
  readonly enabled: boolean
  readonly idleAfterMs: number
  readonly leaseMs: number
  readonly halfLifeDays: number
}

export type ConsolidatorGroup = ReturnType<typeof createConsolidator>

/** Wires the use cases and the loop of the consolidator. */
export function createConsolidator({ limits, phaseOverrides, ...rest }: ConsolidatorDeps) {
  const deps = { ...rest, ...limits, budget: limits, phases: { ...createDefaultPhases(limits), ...phaseOverrides } }
  const state = createStateHolder(deps, limits)
  const budgetedPhases = new Set(PHASES.filter((phase) => phaseOverrides[phase] !== undefined))
  const loop = createConsolidatorLoop({ ...deps, state, budgetedPhases, workJob: createWorkJob(deps) })

  return {
    readConsolidator: createReadConsolidator({ ...deps, isRunning: () => loop.state() !== 'stopped' }),
    queueConsolidation: createQueueConsolidation({ ...deps, onQueued: loop.wake }),
    /** Reads what `readState` and `checkConsolidator` show, which is empty before. The loop does it in each pass. */
    refresh: async () => {
      if (limits.enabled) await state.refresh(dayOf(deps.clock.now()))
    },
    /** Does not read the storage. */
    readState: state.current,
    checkConsolidator: () => checkConsolidator(state.current(), limits.enabled ? loop.state() : 'disabled'),
    daemons: limits.enabled ? [loop] : [],
  }
}
