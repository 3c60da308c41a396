import {
  EVERY_ROW,
  NO_USAGE,
  type RunBudget,
  type RunRecord,
  type RunStore,
  type RunUsage,
  type StepRecord,
  type StepStore,
} from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'

/**
 * The budget account of a family: a topmost run with a budget and all runs below it. Holds its limits and its total
 * usage.
 */
export interface FamilyAccount {
  readonly limits: RunBudget
  used(): RunUsage
  add(usage: RunUsage): void
  /** The limit that a run of the family has exceeded, if any. Exceeding a limit ends every run of the family. */
  exhausted(): string | undefined
  exhaust(what: string): void
}

export interface Membership {
  readonly account: FamilyAccount
  /** Call it when the execution is over. Idempotent. */
  readonly release: () => void
}

/**
 * The families of this process. A topmost run with a budget and all runs below it form a family, which shares one
 * account.
 */
export interface BudgetFamilies {
  /**
   * Adds a run to its family. Call it before the code of a run with a budget executes. The first run to join opens the
   * account with the recorded usage; if that run has no children, this needs no read.
   */
  join(run: RunRecord, recorded: readonly StepRecord[]): Promise<Membership>
  /** Drops the account of a topmost run that has ended, once no run of the family executes. */
  close(runId: string): void
}

export interface BudgetFamiliesDeps extends RetryDeps {
  readonly runs: RunStore
  readonly steps: StepStore
}

interface Family {
  readonly topId: string
  readonly account: Promise<FamilyAccount>
  executions: number
  /** Whether all usage is in the records, so that the account can be dropped and opened again. */
  isRebuildable: boolean
  isOver: boolean
}

/** Only the budget of the topmost run counts: a child gets what is left of that budget. */
export function createBudgetFamilies(deps: BudgetFamiliesDeps): BudgetFamilies {
  const families = new Map<string, Family>() // by id of the topmost run
  const executing = new Map<string, Family>()

  const open = (top: RunRecord, recorded: readonly StepRecord[] | undefined): Family => {
    const account = openAccount(deps, top, recorded)
    const family = { topId: top.id, account, executions: 0, isRebuildable: true, isOver: isTerminal(top.status) }
    families.set(top.id, family)
    return family
  }

  const evictIfIdle = ({ topId, executions, isRebuildable, isOver }: Family) => {
    if (executions === 0 && (isRebuildable || isOver)) families.delete(topId)
  }

  const enter = (run: RunRecord, family: Family) => {
    family.executions++
    if (run.id !== family.topId) family.isRebuildable = false
    executing.set(run.id, family)
    return once(() => {
      family.executions--
      executing.delete(run.id)
      evictIfIdle(family)
    })
  }

  return {
    async join(run, recorded) {
      const isTop = run.parentRunId === undefined
      const ofParent = executing.get(run.parentRunId ?? '')
      const top = isTop || ofParent !== undefined ? run : await topOf(deps, run)
      const family = ofParent ?? families.get(top.id) ?? open(top, isTop ? recorded : undefined)
      const release = enter(run, family)
      try {
        return { account: await family.account, release }
      } catch (error) {
        release()
        throw error
      }
    },
    close(runId) {
      const family = families.get(runId)
      if (family === undefined) return
      family.isOver = true
      evictIfIdle(family)
    },
  }
}

/** Whether a budget limits usage. The time limit is not usage: it is a deadline for every run of the family. */
export const limitsUsage = ({ tokens, costUsd, toolCalls }: RunBudget = {}): boolean =>
  tokens !== undefined || costUsd !== undefined || toolCalls !== undefined

export const sumUsage = (one: RunUsage, other: RunUsage): RunUsage => ({
  inputTokens: one.inputTokens + other.inputTokens,
  outputTokens: one.outputTokens + other.outputTokens,
  costUsd: one.costUsd + other.costUsd,
  toolCalls: one.toolCalls + other.toolCalls,
})

async function openAccount(
  deps: BudgetFamiliesDeps,
  top: RunRecord,
  recorded: readonly StepRecord[] | undefined,
): Promise<FamilyAccount> {
  const limits = top.budget ?? {}
  let { used, isExhausted } = await sumTreeUsage(deps, top, recorded)
  let exhausted = isExhausted ? `${limits.toolCalls} tool calls` : undefined
  return {
    limits,
    used: () => used,
    add(usage) {
      used = sumUsage(used, usage)
    },
    exhausted: () => exhausted,
    exhaust(what) {
      exhausted ??= what
    },
  }
}

/** The topmost run whose budget this run shares. */
async function topOf({ runs, ...deps }: BudgetFamiliesDeps, run: RunRecord): Promise<RunRecord> {
  for (let top = run; ; ) {
    const { parentRunId } = top
    const find = async (id: string) => retryTransient(deps, () => runs.find(id, EVERY_ROW))
    const parent = parentRunId === undefined ? undefined : await find(parentRunId)
    if (parent === undefined || !limitsUsage(parent.budget)) return top
    top = parent
  }
}

interface Spent {
  readonly used: RunUsage
  /** Whether one of these runs has ended because the budget was used up. */
  readonly isExhausted: boolean
}

/** The usage of a run and of all runs below it, including runs that no call waits for any more. */
async function sumTreeUsage(
  deps: BudgetFamiliesDeps,
  run: RunRecord,
  recorded: readonly StepRecord[] | undefined,
): Promise<Spent> {
  const calls = recorded ?? (await retryTransient(deps, () => deps.steps.list(run.id)))
  let used = run.usage
  let isExhausted = run.finishReason === 'budget-exhausted'
  for (const { usage, childRunId } of calls) {
    if (childRunId === undefined) continue
    const child = await retryTransient(deps, () => deps.runs.find(childRunId, EVERY_ROW))
    const below = child === undefined ? undefined : await sumTreeUsage(deps, child, undefined)
    // The record of an ended run already includes the usage of its ended calls.
    const alreadyCounted = usage !== undefined && isTerminal(run.status) ? usage : NO_USAGE
    used = sumUsage(used, minus(below?.used ?? usage ?? NO_USAGE, alreadyCounted))
    isExhausted ||= below?.isExhausted === true
  }
  return { used, isExhausted }
}

const minus = (one: RunUsage, other: RunUsage): RunUsage => ({
  inputTokens: one.inputTokens - other.inputTokens,
  outputTokens: one.outputTokens - other.outputTokens,
  costUsd: one.costUsd - other.costUsd,
  toolCalls: one.toolCalls - other.toolCalls,
})

function once(act: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) act()
    isDone = true
  }
}
