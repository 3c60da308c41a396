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

/** The usage of a run, which its record holds, and what its family (see `BudgetFamilies`) may still use. */
export interface Budget {
  /**
   * Counts a new tool call. Commit the returned write together with the record of the call, so that a crash leaves both
   * or neither.
   *
   * @throws AppError `budget-exhausted` when the budget is used up
   */
  takeToolCall(): Write
  add(report: UsageReport): Promise<void>
  /** The budget of a new child: what is left now. @throws AppError `budget-exhausted` when nothing is left */
  shareWithChild(): RunBudget | undefined
  /**
   * Counts the usage of the child that the call ran, once per call.
   *
   * @throws AppError `budget-exhausted` when the budget is used up
   */
  countChild(call: Pick<StepRecord, 'seq' | 'usage'>): void
  /** Whether the budget was already used up when the execution began. */
  readonly isSpent: boolean
  /** The usage of the run and of its ended children. */
  used(): RunUsage
  /** The usage of the run and of its ended children; read from the records when children share the budget. */
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
  /** The recorded calls of the run. */
  readonly recorded: readonly StepRecord[]
  /** The account of the family; missing when nothing is limited. */
  readonly account: FamilyAccount | undefined
  /** Called as soon as any run of the family exceeds the budget. */
  readonly onExhausted: (error: AppError) => void
}

/**
 * While a run executes, its record holds only its own usage; the usage of an ended child is in the record of the call.
 */
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

  /**
   * Stores the usage in the run's record, where only this execution changes it. The caller commits the write
   * immediately.
   */
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

/** The usage of a run as it ends. */
export interface UsageAtEnd {
  readonly usage: RunUsage
  /**
   * Conflicts at `step.fence` when another child has ended in the meantime, because the usage of that child would be
   * missing.
   */
  readonly fence: readonly Write[]
}

/** The usage of a run that does not execute in this process, including its ended children. */
export async function usageWithChildren({ steps }: { readonly steps: StepStore }, run: RunRecord): Promise<UsageAtEnd> {
  const recorded = await steps.list(run.id)
  const usage = recorded.reduce((sum, call) => (call.usage === undefined ? sum : sumUsage(sum, call.usage)), run.usage)
  return { usage, fence: limitsUsage(run.budget) ? fenceOf(run, recorded) : [] }
}

function fenceOf({ id }: RunRecord, recorded: readonly StepRecord[]): readonly Write[] {
  const open = recorded.filter(({ status, childRunId }) => status === 'waiting' && childRunId !== undefined)
  return open.length === 0 ? [] : [{ type: 'step.fence', runId: id, seqs: open.map(({ seq }) => seq) }]
}

/** The unused part of each limit. Omits the time limit, because a child ends at the deadline of its parent anyway. */
function leftOf({ limits, used }: FamilyAccount): RunBudget {
  const { tokens, costUsd, toolCalls } = limits
  const { inputTokens, outputTokens, costUsd: cost, toolCalls: calls } = used()
  return {
    tokens: tokens === undefined ? undefined : tokens - inputTokens - outputTokens,
    costUsd: costUsd === undefined ? undefined : costUsd - cost,
    toolCalls: toolCalls === undefined ? undefined : Math.max(0, toolCalls - calls),
  }
}
