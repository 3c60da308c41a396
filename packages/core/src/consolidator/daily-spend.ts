import type { ConsolidationSpend, ConsolidationStore, EpochMs } from '@perdure/ports'

/** What phases of one's own may spend on a day (UTC); no limit when missing. */
export interface BudgetLimits {
  readonly tokensPerDay?: number | undefined
  readonly usdCentsPerDay?: number | undefined
}

export interface BudgetLeft {
  readonly limit: number | null
  readonly remaining: number | null // never below 0; null without a limit
}

export interface Budget {
  readonly tokens: BudgetLeft
  readonly usd: BudgetLeft
}

export const dayOf = (at: EpochMs): string => new Date(at).toISOString().slice(0, 'YYYY-MM-DD'.length)

export async function readBudget(
  consolidation: Pick<ConsolidationStore, 'spentOn'>,
  limits: BudgetLimits,
  now: EpochMs,
): Promise<Budget> {
  return budgetAfter(limits, await consolidation.spentOn(dayOf(now)))
}

export function budgetAfter({ tokensPerDay, usdCentsPerDay }: BudgetLimits, spent: ConsolidationSpend): Budget {
  const usdPerDay = usdCentsPerDay === undefined ? undefined : usdCentsPerDay / 100
  return { tokens: leftOf(tokensPerDay, spent.tokens), usd: leftOf(usdPerDay, spent.costUsd) }
}

export const isUsedUp = ({ tokens, usd }: Budget): boolean => tokens.remaining === 0 || usd.remaining === 0

const leftOf = (limit: number | undefined, spent: number): BudgetLeft =>
  limit === undefined ? { limit: null, remaining: null } : { limit, remaining: Math.max(0, limit - spent) }
