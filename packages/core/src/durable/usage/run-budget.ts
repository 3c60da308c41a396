import {
  type EpochMs,
  type NewEvent,
  NO_USAGE,
  type Refusal,
  type RunBudget,
  type RunRecord,
  type RunUsage,
  type StepRecord,
  toJsonText,
  type Write,
} from '@perdure/ports'
import { budgetError, budgetMessage } from '../../runs/budget-error.ts'
import { runEvent } from '../../runs/run-events.ts'
import type { Journal, JournalDeps } from '../journal.ts'
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
  /** Usage that the caller records together with something else. */
  charge(report: UsageReport): Charge
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
  /** The budgets that ask and are used up: nothing more may be spent until an approval raises them. */
  exceeded(isToolCall: boolean): readonly Exceeded[]
  /**
   * Announces a tool call that was let through and is not counted yet. Returns a function that withdraws it; `undefined` if no
   * budget asks.
   */
  announceToolCall(): (() => void) | undefined
  /** Raises the limits of a run, as an approval allows. */
  raise(runId: string, limits: RunBudget): void
  /** @throws PerdureError `budget-exhausted`, because it was denied that the run goes on */
  refuse(runId: string): never
  /** Whether a budget was already used up when the execution began. */
  readonly isSpent: boolean
  /** The recorded usage of the run and its descendants. */
  used(): RunUsage
}

export interface Charge {
  readonly writes: readonly Write[]
  readonly events: readonly NewEvent[]
  /** Call it once both are durable. @throws PerdureError `budget-exhausted` when a budget is used up */
  recorded(): Promise<void>
}

/** A budget that is used up. */
export interface Exceeded {
  readonly runId: string
  /** In words. */
  readonly limit: string
  readonly used: RunBudget
  /** What an approval allows: the limits that are reached, once more on top of what is used. */
  readonly newLimits: RunBudget
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
      const limit = asks(account) ? undefined : limitOf(account)
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

  const asking = accounts.filter(asks)
  let announced = 0

  const isShared = accounts.some((account) => account.isShared)
  const refresh = () => Promise.all(accounts.map((account) => account.refresh()))

  const charge = (given: UsageReport): Charge => {
    const report =
      pricing?.price(
        given,
        accounts.some(({ limits }) => limits.costUsd !== undefined),
      ) ?? given
    const { inputTokens = 0, outputTokens = 0, costUsd = 0 } = report
    // Usage that could not be recorded stays reserved: it was spent.
    const { writes, confirm } = reserve({ inputTokens, outputTokens, costUsd, toolCalls: 0 })
    return {
      writes,
      events: [usageEvent(run, report, clock.now())],
      async recorded() {
        confirm()
        runMeter.used(report)
        if (isShared) await refresh()
        check()
      },
    }
  }

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
      const { writes, events, recorded } = charge(given)
      await journal.record({ writes, events })
      await recorded()
    },
    charge,
    exceeded: (isToolCall) => asking.flatMap((account) => excessOf(account, isToolCall ? announced : undefined)),
    announceToolCall() {
      if (asking.length === 0) return undefined
      let isOpen = true
      announced++
      return () => {
        if (isOpen) announced--
        isOpen = false
      }
    },
    raise: (runId, limits) => accounts.find((account) => account.runId === runId)?.raise(limits),
    refuse(runId) {
      const account = accounts.find((one) => one.runId === runId)
      const message = budgetMessage(runId, 'the request to go on was denied')
      account?.exhaust(message)
      const error = budgetError(runId, message)
      onExhausted(error)
      throw error
    },
    checkToolCall: () => (isShared ? refresh().then(() => check(exceededToolCalls)) : undefined),
  }
}

const asks = ({ limits }: UsageAccount): boolean => limits.onExceeded === 'ask'

/** @param announced the tool calls that are let through and not counted yet; missing if no tool is to be called */
function excessOf(account: UsageAccount, announced: number | undefined): readonly Exceeded[] {
  const { runId, limits, used } = account
  const { tokens, costUsd, toolCalls } = account.raised()
  const { inputTokens, outputTokens, ...now } = used()
  const calls = now.toolCalls + (announced ?? 0)
  const reached = [
    ...isReached('tokens', inputTokens + outputTokens, { limit: tokens, step: limits.tokens }),
    ...isReached('costUsd', now.costUsd, { limit: costUsd, step: limits.costUsd }),
    ...(announced === undefined
      ? []
      : isReached('toolCalls', calls, { limit: toolCalls, step: Math.max(1, limits.toolCalls ?? 1) })),
  ]
  if (reached.length === 0) return []
  return [
    {
      runId,
      limit: reached.map(({ name, limit }) => `${limit} ${UNITS[name]}`).join(', '),
      used: Object.fromEntries(reached.map(({ name, amount }) => [name, amount])),
      newLimits: Object.fromEntries(reached.map(({ name, amount, step }) => [name, amount + step])),
    },
  ]
}

const UNITS = { tokens: 'tokens', costUsd: 'USD', toolCalls: 'tool calls' } as const

const isReached = (
  name: keyof typeof UNITS,
  amount: number,
  { limit, step = 0 }: { readonly limit: number | undefined; readonly step: number | undefined },
) => (limit === undefined || amount < limit ? [] : [{ name, amount, limit, step }])

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
