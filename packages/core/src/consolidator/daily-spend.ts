import type { ConsolidationSpend, ConsolidationStore, EpochMs } from '@perdure/ports'

/** What custom phases may spend per day (UTC); an omitted limit does not apply. */
export interface BudgetLimits {
  readonly tokensPerDay?: number | undefined
  readonly usdCentsPerDay?: number | undefined
}

export interface RemainingBudget {
  readonly limit: number | null
  readonly remaining: number | null // never below 0; null without a limit
}

export interface Budget {
  readonly tokens: RemainingBudget
  readonly usd: RemainingBudget
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
  return { tokens: remainingOf(tokensPerDay, spent.tokens), usd: remainingOf(usdPerDay, spent.costUsd) }
}

export const isExhausted = ({ tokens, usd }: Budget): boolean => tokens.remaining === 0 || usd.remaining === 0

const remainingOf = (limit: number | undefined, spent: number): RemainingBudget =>
  limit === undefined ? { limit: null, remaining: null } : { limit, remaining: Math.max(0, limit - spent) }
