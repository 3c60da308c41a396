import { isTerminal } from '@perdure/protocol'
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
import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'

/** What the run at the top of a family may use, and what it and everything below it have used. */
export interface FamilyAccount {
  readonly limits: RunBudget
  used(): RunUsage
  add(usage: RunUsage): void
  /** What one of them wanted more of than was left, which ends all of them. */
  exhausted(): string | undefined
  exhaust(what: string): void
}

export interface Membership {
  readonly account: FamilyAccount
  /** The execution is over; may be said again. */
  readonly release: () => void
}

/** A run with a budget and all runs below it are a family, with one account in this process. */
export interface BudgetFamilies {
  /**
   * Takes part in the account of the family, before the code of a run with a budget executes. It is opened by what the
   * records say that the family has used; that costs a family of one no read.
   */
  join(run: RunRecord, recorded: readonly StepRecord[]): Promise<Membership>
  /** Forgets the account of a run that has ended, once nothing below it executes. */
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
  /** Whether the records alone say what was used, so that it may be opened again. */
  isRebuildable: boolean
  isOver: boolean
}

/** Only the budget of the run at the top counts: what a child was given is what was left of that. */
export function createBudgetFamilies(deps: BudgetFamiliesDeps): BudgetFamilies {
  const families = new Map<string, Family>() // by the run at the top
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

/** Whether a budget limits what is counted; its time is a deadline of every run that shares it. */
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

/** The highest run above this one whose budget it shares. */
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
  /** One of them has ended because it wanted more. */
  readonly isExhausted: boolean
}

/** What a run and all runs below it have used, those included that nobody waits for any more. */
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
    // The record of a run that has ended holds already what its settled calls have used.
    const held = usage !== undefined && isTerminal(run.status) ? usage : NO_USAGE
    used = sumUsage(used, minus(below?.used ?? usage ?? NO_USAGE, held))
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
