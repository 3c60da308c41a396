import type { ConsolidationStore, JobCounts, JobQueue } from '@perdure/ports'
import { type Budget, type BudgetLimits, budgetAfter } from './daily-spend.ts'

export interface ConsolidatorCheck {
  readonly status: 'ok' | 'warn' | 'disabled'
  readonly message?: string | undefined
  readonly queueDepth: number
  readonly deadLetters: number
  readonly running: boolean
}

/** What health and metrics show; read without a look into the database. */
export interface ConsolidatorState {
  readonly counts: JobCounts
  readonly budget: Budget
}

export interface StateHolder {
  current(): ConsolidatorState
  /** Looks into the database, now and then. */
  refresh(day: string): Promise<void>
}

const NOTHING: JobCounts = { extract: 0, merge: 0, decay: 0, deadLetters: 0 }

export function createStateHolder(
  { jobs, consolidation }: { readonly jobs: JobQueue; readonly consolidation: ConsolidationStore },
  limits: BudgetLimits,
): StateHolder {
  let state: ConsolidatorState = { counts: NOTHING, budget: budgetAfter(limits, { tokens: 0, costUsd: 0 }) }
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
      ? 'the consolidator fails again and again; see the log'
      : deadLetters > 0
        ? `jobs were given up: ${deadLetters}; see GET /consolidator/dead-letters`
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
