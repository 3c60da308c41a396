import type { Clock, ConsolidationStore, EpochMs, JobPhase, JobQueue, JobRecord, Page, PageQuery } from '@perdure/ports'
import { type Budget, type BudgetLimits, readBudget } from './daily-spend.ts'

export interface ReadConsolidatorDeps {
  readonly jobs: JobQueue
  readonly consolidation: ConsolidationStore
  readonly clock: Clock
  readonly budget: BudgetLimits
  readonly isRunning: () => boolean
}

export interface ConsolidatorResource {
  readonly running: boolean
  readonly queueDepth: Readonly<Record<JobPhase, number>>
  readonly deadLetters: number
  readonly budget: Budget
}

/** Reads the state of the consolidator for the API. */
export interface ReadConsolidator {
  get(): Promise<ConsolidatorResource>
  deadLetters(page: PageQuery): Promise<Page<DeadLetterResource>>
}

export function createReadConsolidator(deps: ReadConsolidatorDeps): ReadConsolidator {
  const { jobs, consolidation, clock, budget, isRunning } = deps
  return {
    async get() {
      const { deadLetters, ...queueDepth } = await jobs.counts()
      return {
        running: isRunning(),
        queueDepth,
        deadLetters,
        budget: await readBudget(consolidation, budget, clock.now()),
      }
    },
    async deadLetters(page) {
      const { items, nextCursor } = await jobs.deadLetters(page)
      return { items: items.map(toDeadLetterResource), nextCursor }
    },
  }
}

export type DeadLetterResource = ReturnType<typeof toDeadLetterResource>

const toDeadLetterResource = ({ id, phase, sessionId, attempts, error, createdAt, failedAt }: JobRecord) => ({
  id,
  phase,
  sessionId,
  attempts,
  error: error ?? { kind: 'unknown', message: 'no error was recorded' },
  createdAt: toIso(createdAt),
  failedAt: toIso(failedAt ?? createdAt),
})

const toIso = (at: EpochMs) => new Date(at).toISOString()
