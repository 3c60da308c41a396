import { type EpochMs, plusMs, type RunBudget, type RunRecord } from '@perdure/ports'
import { smaller, smallerBudget } from './smaller-budget.ts'

/**
 * The limits of a child: those of its registration, and never more than its parent has. Its usage also counts against
 * the parent's budget. The parent's deadline replaces the `maxDuration` of the parent.
 */
export function childLimits(
  parent: Pick<RunRecord, 'budget' | 'deadlineAt'>,
  registered: RunBudget | undefined,
  createdAt: EpochMs,
): Pick<RunRecord, 'budget' | 'deadlineAt'> {
  const { maxDuration } = registered ?? {}
  const ownDeadline = maxDuration === undefined ? undefined : plusMs(createdAt, maxDuration)
  const { maxDuration: _, onExceeded, ...limits } = parent.budget ?? {}
  // The stricter of two budgets decides: a child that fails at its limit does not ask at that of its parent.
  const isStrict = registered !== undefined && registered.onExceeded !== 'ask'
  const usage = isStrict || onExceeded === undefined ? limits : { ...limits, onExceeded }
  return {
    budget: smallerBudget(registered, Object.keys(limits).length === 0 ? undefined : usage),
    deadlineAt: smaller(ownDeadline, parent.deadlineAt) as EpochMs | undefined,
  }
}
