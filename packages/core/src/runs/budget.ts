import {
  AppError,
  type EpochMs,
  type NewEvent,
  NO_USAGE,
  type RunBudget,
  type RunRecord,
  type RunUsage,
  type StepRecord,
  type StepStore,
  toJsonText,
} from '@berth/ports'
import type { Journal, JournalDeps } from './journal.ts'
import { runEvent } from './run-events.ts'
import type { RunMeter } from './run-meter.ts'
import type { UsageReport } from './usage-report.ts'

/** What a run has used, kept with it, and what it may still use. */
export interface Budget {
  /** @throws AppError `budget-exhausted` when nothing may be started any more */
  reserveToolCall(): void
  countToolCall(): Promise<void>
  add(report: UsageReport): Promise<void>
  /** What a child may use: what is left now. @throws AppError `budget-exhausted` when nothing is */
  shareWithChild(): RunBudget | undefined
  /** Counts what the child of a settled call has used, once. @throws AppError `budget-exhausted` when that is too much */
  countChild(call: Pick<StepRecord, 'seq' | 'usage'>): void
  /** Rejects as soon as more was used than allowed. */
  readonly exhaustion: Promise<never>
  /** By the run and by its children that have ended. */
  used(): RunUsage
}

const usageEvent = (run: RunRecord, report: UsageReport, at: EpochMs): NewEvent => {
  const amounts = { inputTokens: 0, outputTokens: 0, costUsd: 0, ...report }
  return runEvent(run, { type: 'usage', payload: toJsonText({ runId: run.id, ...amounts }), at })
}

export interface BudgetDeps extends Pick<JournalDeps, 'clock'> {
  readonly runMeter: RunMeter
}

export interface BudgetParts {
  readonly journal: Journal
  /** Every call of the run as it was recorded before. */
  readonly recorded: readonly StepRecord[]
}

/** While it executes, the record of a run holds its own usage; what children have used is in the calls they settled. */
export function createBudget(
  { clock, runMeter }: BudgetDeps,
  run: RunRecord,
  { journal, recorded }: BudgetParts,
): Budget {
  const { tokens, costUsd, toolCalls } = run.budget ?? {}
  const { promise: exhaustion, reject: exhaust } = Promise.withResolvers<never>()
  exhaustion.catch(() => undefined)
  let own = run.usage
  let reserved = run.usage.toolCalls
  let ofChildren = NO_USAGE
  const counted = new Set<number>()

  const count = ({ seq, usage }: Pick<StepRecord, 'seq' | 'usage'>) => {
    if (usage === undefined || counted.has(seq)) return
    counted.add(seq)
    ofChildren = sum(ofChildren, usage)
  }
  for (const call of recorded) count(call)

  const total = () => sum(own, ofChildren)

  const refuse = (what: string) => {
    const error = new AppError('budget-exhausted', { message: `the budget of ${what} is used up` })
    exhaust(error)
    return error
  }

  const problem = (): string | undefined => {
    const used = total()
    if (tokens !== undefined && used.inputTokens + used.outputTokens >= tokens) return `${tokens} tokens`
    if (costUsd !== undefined && used.costUsd >= costUsd) return `${costUsd} USD`
    return undefined
  }

  /** The usage is part of the run's record; only this execution changes it. */
  const write = (next: RunUsage, report?: UsageReport): Promise<void> => {
    own = next
    const events = report === undefined ? [] : [usageEvent(run, report, clock.now())]
    return journal.record({
      writes: [
        { type: 'run.transition', runId: run.id, from: ['running'], attempt: run.attempt, change: { usage: next } },
      ],
      events,
    })
  }

  return {
    exhaustion,
    used: total,
    reserveToolCall() {
      const over =
        problem() ??
        (toolCalls !== undefined && reserved + ofChildren.toolCalls >= toolCalls
          ? `${toolCalls} tool calls`
          : undefined)
      if (over !== undefined) throw refuse(over)
      reserved++
    },
    shareWithChild() {
      const over = problem()
      if (over !== undefined) throw refuse(over)
      return leftOf(run.budget, { ...total(), toolCalls: reserved + ofChildren.toolCalls })
    },
    countChild(call) {
      count(call)
      const over = problem()
      if (over !== undefined) throw refuse(over)
    },
    countToolCall: () => write({ ...own, toolCalls: own.toolCalls + 1 }),
    async add(report) {
      const { inputTokens = 0, outputTokens = 0, costUsd: cost = 0 } = report
      await write(
        {
          ...own,
          inputTokens: own.inputTokens + inputTokens,
          outputTokens: own.outputTokens + outputTokens,
          costUsd: own.costUsd + cost,
        },
        report,
      )
      runMeter.used(report)
      const over = problem()
      if (over !== undefined) throw refuse(over)
    },
  }
}

/** What a run that does not execute here has used, children that have ended included. */
export async function usageWithChildren({ steps }: { readonly steps: StepStore }, run: RunRecord): Promise<RunUsage> {
  const recorded = await steps.list(run.id)
  return recorded.reduce((usage, call) => (call.usage === undefined ? usage : sum(usage, call.usage)), run.usage)
}

const sum = (one: RunUsage, other: RunUsage): RunUsage => ({
  inputTokens: one.inputTokens + other.inputTokens,
  outputTokens: one.outputTokens + other.outputTokens,
  costUsd: one.costUsd + other.costUsd,
  toolCalls: one.toolCalls + other.toolCalls,
})

/** The time is no part of it: a child ends at the deadline of its parent. */
function leftOf(budget: RunBudget | undefined, used: RunUsage): RunBudget | undefined {
  const { tokens, costUsd, toolCalls } = budget ?? {}
  if (tokens === undefined && costUsd === undefined && toolCalls === undefined) return undefined
  return {
    tokens: tokens === undefined ? undefined : tokens - used.inputTokens - used.outputTokens,
    costUsd: costUsd === undefined ? undefined : costUsd - used.costUsd,
    toolCalls: toolCalls === undefined ? undefined : Math.max(0, toolCalls - used.toolCalls),
  }
}
