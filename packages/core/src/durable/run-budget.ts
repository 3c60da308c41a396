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
  type Write,
} from '@perdure/ports'
import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'
import { runEvent } from '../runs/run-events.ts'
import { type FamilyAccount, limitsUsage, sumUsage } from './budget-families.ts'
import type { Journal, JournalDeps } from './journal.ts'
import type { RunMeter } from './run-meter.ts'
import type { UsageReport } from './usage-report.ts'

/** What a run has used, kept with it, and what its family may still use. */
export interface Budget {
  /**
   * Counts a call of a tool that is new. Its write belongs into the commit that records the call, so that a crash leaves both or
   * neither.
   *
   * @throws AppError `budget-exhausted` when nothing may be started any more
   */
  takeToolCall(): Write
  add(report: UsageReport): Promise<void>
  /** What a child may use: what is left now. @throws AppError `budget-exhausted` when nothing is */
  shareWithChild(): RunBudget | undefined
  /** Counts what the child of a settled call has used, once. @throws AppError `budget-exhausted` when that is too much */
  countChild(call: Pick<StepRecord, 'seq' | 'usage'>): void
  /** Whether nothing is left before the run does anything. */
  readonly isSpent: boolean
  /** By the run and by its children that have ended. */
  used(): RunUsage
  /** The same as the records have it now, where that is what others of its family may still use. */
  usedAtEnd(): Promise<UsageAtEnd>
}

const ONE_TOOL_CALL: RunUsage = { ...NO_USAGE, toolCalls: 1 }

const usageEvent = (run: RunRecord, report: UsageReport, at: EpochMs): NewEvent => {
  const amounts = { inputTokens: 0, outputTokens: 0, costUsd: 0, ...report }
  return runEvent(run, { type: 'usage', payload: toJsonText({ runId: run.id, ...amounts }), at })
}

export interface BudgetDeps extends RetryDeps, Pick<JournalDeps, 'clock'> {
  readonly steps: StepStore
  readonly runMeter: RunMeter
}

export interface BudgetParts {
  readonly journal: Journal
  /** Every call of the run as it was recorded before. */
  readonly recorded: readonly StepRecord[]
  /** Shared with every run below and above; none when nothing is limited. */
  readonly account: FamilyAccount | undefined
  /** Called as soon as more was used than allowed, by whomever of the family. */
  readonly onExhausted: (error: AppError) => void
}

/** While it executes, the record of a run holds its own usage; what children have used is in the calls they settled. */
export function createBudget(deps: BudgetDeps, run: RunRecord, parts: BudgetParts): Budget {
  const { journal, recorded, account, onExhausted } = parts
  const { clock, runMeter, steps } = deps
  const { tokens, costUsd, toolCalls } = account?.limits ?? {}
  let own = run.usage
  let ofChildren = NO_USAGE
  let hasChildren = recorded.some(({ childRunId }) => childRunId !== undefined)
  const counted = new Set<number>()

  const count = ({ seq, usage }: Pick<StepRecord, 'seq' | 'usage'>) => {
    if (usage === undefined || counted.has(seq)) return
    counted.add(seq)
    ofChildren = sumUsage(ofChildren, usage)
  }
  for (const call of recorded) count(call)

  const total = () => sumUsage(own, ofChildren)

  const refuse = (what: string) => {
    const error = new AppError('budget-exhausted', { message: `the budget of ${what} is used up` })
    account?.exhaust(what)
    onExhausted(error)
    return error
  }

  const problem = (): string | undefined => {
    const used = account?.used() ?? NO_USAGE
    if (tokens !== undefined && used.inputTokens + used.outputTokens >= tokens) return `${tokens} tokens`
    if (costUsd !== undefined && used.costUsd >= costUsd) return `${costUsd} USD`
    return account?.exhausted()
  }

  /** The usage is part of the run's record; only this execution changes it. What this returns is written at once. */
  const usageWrite = (next: RunUsage): Write => {
    own = next
    return { type: 'run.transition', runId: run.id, from: ['running'], attempt: run.attempt, change: { usage: next } }
  }

  const spent = problem()
  if (spent !== undefined) refuse(spent)

  return {
    isSpent: spent !== undefined,
    used: total,
    async usedAtEnd() {
      if (account === undefined || !hasChildren) return { usage: total(), fence: [] }
      const calls = await retryTransient(deps, () => steps.list(run.id))
      for (const call of calls) count(call)
      return { usage: total(), fence: fenceOf(run, calls) }
    },
    takeToolCall() {
      const isOver = toolCalls !== undefined && (account?.used().toolCalls ?? 0) >= toolCalls
      const over = problem() ?? (isOver ? `${toolCalls} tool calls` : undefined)
      if (over !== undefined) throw refuse(over)
      account?.add(ONE_TOOL_CALL)
      return usageWrite(sumUsage(own, ONE_TOOL_CALL))
    },
    shareWithChild() {
      const over = problem()
      if (over !== undefined) throw refuse(over)
      hasChildren = true
      return account === undefined ? undefined : leftOf(account)
    },
    countChild(call) {
      count(call)
      const over = problem()
      if (over !== undefined) throw refuse(over)
    },
    async add(report) {
      const { inputTokens = 0, outputTokens = 0, costUsd: cost = 0 } = report
      const more = { inputTokens, outputTokens, costUsd: cost, toolCalls: 0 }
      account?.add(more)
      await journal.record({
        writes: [usageWrite(sumUsage(own, more))],
        events: [usageEvent(run, report, clock.now())],
      })
      runMeter.used(report)
      const over = problem()
      if (over !== undefined) throw refuse(over)
    },
  }
}

/** What a run has used as it ends. */
export interface UsageAtEnd {
  readonly usage: RunUsage
  /** Conflicts at `step.fence` when a child has ended in the meantime, whose usage would be missing. */
  readonly fence: readonly Write[]
}

/** What a run that does not execute here has used, children that have ended included. */
export async function usageWithChildren({ steps }: { readonly steps: StepStore }, run: RunRecord): Promise<UsageAtEnd> {
  const recorded = await steps.list(run.id)
  const usage = recorded.reduce((sum, call) => (call.usage === undefined ? sum : sumUsage(sum, call.usage)), run.usage)
  return { usage, fence: limitsUsage(run.budget) ? fenceOf(run, recorded) : [] }
}

function fenceOf({ id }: RunRecord, recorded: readonly StepRecord[]): readonly Write[] {
  const open = recorded.filter(({ status, childRunId }) => status === 'waiting' && childRunId !== undefined)
  return open.length === 0 ? [] : [{ type: 'step.fence', runId: id, seqs: open.map(({ seq }) => seq) }]
}

/** What is left of what is limited. The time is no part of it: a child ends at the deadline of its parent. */
function leftOf({ limits, used }: FamilyAccount): RunBudget {
  const { tokens, costUsd, toolCalls } = limits
  const { inputTokens, outputTokens, costUsd: cost, toolCalls: calls } = used()
  return {
    tokens: tokens === undefined ? undefined : tokens - inputTokens - outputTokens,
    costUsd: costUsd === undefined ? undefined : costUsd - cost,
    toolCalls: toolCalls === undefined ? undefined : Math.max(0, toolCalls - calls),
  }
}
