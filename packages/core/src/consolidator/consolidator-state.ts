import type { ConsolidationStore, JobCounts, JobQueue } from '@perdure/ports'
import type { CheckStatus } from '@perdure/protocol'
import { type Budget, type BudgetLimits, budgetAfter } from './daily-spend.ts'

export interface ConsolidatorCheck {
  readonly status: Exclude<CheckStatus, 'fail'>
  readonly message?: string | undefined
  readonly queueDepth: number
  readonly deadLetters: number
  readonly running: boolean
}

/** The state for health and metrics, held in memory so that a reader needs no query. */
export interface ConsolidatorState {
  readonly counts: JobCounts
  readonly budget: Budget
}

export interface StateHolder {
  current(): ConsolidatorState
  /** Reads the state from the database. */
  refresh(day: string): Promise<void>
}

const NO_JOBS: JobCounts = { extract: 0, merge: 0, decay: 0, deadLetters: 0 }

export function createStateHolder(
  { jobs, consolidation }: { readonly jobs: JobQueue; readonly consolidation: ConsolidationStore },
  limits: BudgetLimits,
): StateHolder {
  let state: ConsolidatorState = { counts: NO_JOBS, budget: budgetAfter(limits, { tokens: 0, costUsd: 0 }) }
  return {
    current: () => state,
    async refresh(day) {
      const [counts, spent] = await Promise.all([jobs.counts(), consolidation.spentOn(day)])
      state = { counts, budget: budgetAfter(limits, spent) }
    },
  }
}

export function checkConsolidator(
  { counts }: ConsolidatorState,
  loop: 'stopped' | 'running' | 'failing' | 'disabled',
): ConsolidatorCheck {
  const { deadLetters } = counts
  const message =
    loop === 'failing'
      ? 'the consolidator keeps failing; see the log'
      : deadLetters > 0
        ? `${deadLetters} jobs have failed permanently; see GET /consolidator/dead-letters`
        : undefined
  const status = message === undefined ? 'ok' : 'warn'
  return {
    status: loop === 'disabled' ? 'disabled' : status,
    message: loop === 'disabled' ? undefined : message,
    queueDepth: counts.extract + counts.merge + counts.decay,
    deadLetters,
    running: loop === 'running' || loop === 'failing',
  }
}
