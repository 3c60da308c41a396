import {
  type EpochMs,
  type NewEvent,
  NO_USAGE,
  type Refusal,
  type RunRecord,
  type RunUsage,
  type StepRecord,
  toJsonText,
  type Write,
} from '@perdure/ports'
import { budgetError, budgetMessage } from '../runs/budget-error.ts'
import { runEvent } from '../runs/run-events.ts'
import type { Journal, JournalDeps } from './journal.ts'
import type { Pricing } from './model-pricing.ts'
import type { RunMeter } from './run-meter.ts'
import type { UsageAccount } from './usage-accounts.ts'
import type { UsageReport } from './usage-report.ts'

/**
 * Usage that counts from now on. Commit the writes together with the record of what is used, so that a crash leaves both
 * or neither.
 */
export interface Reservation {
  readonly writes: readonly Write[]
  /** Call it when the writes are committed. */
  confirm(): void
  /** Call it when the writes were not committed. */
  cancel(): void
}

/** Counts the usage of a run against its budget and the budgets of its ancestors. */
export interface Budget {
  /** Counts a new tool call. @throws PerdureError `budget-exhausted` when a budget is used up */
  takeToolCall(): Reservation
  /** @throws PerdureError `budget-exhausted` when a budget is used up */
  add(report: UsageReport): Promise<void>
  /**
   * Call it between the record of a tool call and the call. Other processes may have used up a shared budget; `undefined` if there
   * are none.
   *
   * @throws PerdureError `budget-exhausted` when more tool calls are recorded than a budget allows
   */
  checkToolCall(): Promise<void> | undefined
  /** @throws PerdureError `budget-exhausted` when nothing is left for a new child */
  checkLeft(): void
  /** Call it when a child has ended. @throws PerdureError `budget-exhausted` when the child, or this run, has used up a budget */
  checkChild(call: StepRecord): void
  /** Whether a budget was already used up when the execution began. */
  readonly isSpent: boolean
  /** The recorded usage of the run and its descendants. */
  used(): RunUsage
}

const ONE_TOOL_CALL: RunUsage = { ...NO_USAGE, toolCalls: 1 }

const usageEvent = (run: RunRecord, report: UsageReport, at: EpochMs): NewEvent => {
  const amounts = { inputTokens: 0, outputTokens: 0, costUsd: 0, ...report }
  return runEvent(run, { type: 'usage', payload: toJsonText({ runId: run.id, ...amounts }), at })
}

export interface BudgetDeps extends Pick<JournalDeps, 'clock'> {
  readonly runMeter: RunMeter
  /** Missing: only costs that are reported count. */
  readonly pricing?: Pricing | undefined
}

export interface BudgetParts {
  readonly journal: Journal
  /** The recorded calls of the run. */
  readonly recorded: readonly StepRecord[]
  /** The accounts of the run's ancestors, the top-level run first, and of the run itself, last. */
  readonly accounts: readonly UsageAccount[]
  /** Called as soon as the budget of this run or of an ancestor is used up. */
  readonly onExhausted: (error: Refusal) => void
}

/**
 * The record of a run includes the usage of its descendants, so one commit adds new usage to the run and its ancestors.
 */
export function createBudget(deps: BudgetDeps, run: RunRecord, parts: BudgetParts): Budget {
  const { journal, recorded, accounts, onExhausted } = parts
  const { clock, runMeter, pricing } = deps

  /** @throws PerdureError `budget-exhausted`; it names the highest run whose budget is used up */
  const check = (limitOf: (account: UsageAccount) => string | undefined = spentLimit) => {
    for (const account of accounts) {
      const limit = limitOf(account)
      if (limit !== undefined) account.exhaust(budgetMessage(account.runId, limit))
      const message = account.exhausted()
      if (message === undefined) continue
      const error = budgetError(account.runId, message)
      onExhausted(error)
      throw error
    }
  }

  /**
   * Notes that a child has used up a budget. This ends the ancestors of the child, up to the run that has this budget.
   */
  const noteChild = ({ error }: StepRecord) => {
    if (error?.budgetOf === undefined) return
    accounts.find(({ runId }) => runId === error.budgetOf)?.exhaust(error.message)
  }

  const reserve = (usage: RunUsage): Reservation => {
    for (const account of accounts) account.reserve(usage)
    return {
      writes: accounts.map(({ runId }) => ({ type: 'run.charge', runId, usage })),
      confirm() {
        for (const account of accounts) account.confirm(usage)
      },
      cancel() {
        for (const account of accounts) account.cancel(usage)
      },
    }
  }

  const isSpentNow = () => {
    // The budget that a child used up can belong to a higher run than the budget that is reached now.
    for (const call of recorded) noteChild(call)
    try {
      check()
      return false
    } catch {
      return true
    }
  }

  const isShared = accounts.some((account) => account.isShared)
  const refresh = () => Promise.all(accounts.map((account) => account.refresh()))

  return {
    isSpent: isSpentNow(),
    used: () => accounts.at(-1)?.recorded() ?? run.usage,
    takeToolCall() {
      check((account) => spentLimit(account) ?? usedToolCalls(account))
      return reserve(ONE_TOOL_CALL)
    },
    checkLeft: () => check(),
    checkChild(call) {
      noteChild(call)
      check()
    },
    async add(given) {
      const report =
        pricing?.price(
          given,
          accounts.some(({ limits }) => limits.costUsd !== undefined),
        ) ?? given
      const { inputTokens = 0, outputTokens = 0, costUsd = 0 } = report
      // Usage that could not be recorded stays reserved: it was spent.
      const { writes, confirm } = reserve({ inputTokens, outputTokens, costUsd, toolCalls: 0 })
      await journal.record({ writes, events: [usageEvent(run, report, clock.now())] })
      confirm()
      runMeter.used(report)
      if (isShared) await refresh()
      check()
    },
    checkToolCall: () => (isShared ? refresh().then(() => check(exceededToolCalls)) : undefined),
  }
}

/** The limit of a run that leaves nothing to use, if any. */
function spentLimit(account: UsageAccount): string | undefined {
  const { tokens, costUsd } = account.limits
  const used = account.used()
  if (tokens !== undefined && used.inputTokens + used.outputTokens >= tokens) return `${tokens} tokens`
  return costUsd !== undefined && used.costUsd >= costUsd ? `${costUsd} USD` : undefined
}

function exceededToolCalls({ limits: { toolCalls }, recorded }: UsageAccount): string | undefined {
  return toolCalls !== undefined && recorded().toolCalls > toolCalls ? `${toolCalls} tool calls` : undefined
}

function usedToolCalls({ limits: { toolCalls }, used }: UsageAccount): string | undefined {
  return toolCalls !== undefined && used().toolCalls >= toolCalls ? `${toolCalls} tool calls` : undefined
}
