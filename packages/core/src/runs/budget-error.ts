import { perdureError, type Refusal } from '@perdure/ports'

/** The name of the approval by which a run asks to go on beyond its budget. Code cannot use it. */
export const BUDGET_CALL = 'perdure:budget'

const owners = new WeakMap<object, string>()

/** The error of a run that has used up its own budget or that of an ancestor. */
export function budgetError(runId: string, message = budgetMessage(runId, 'its time')): Refusal {
  const error = perdureError('budget-exhausted', { message })
  owners.set(error, runId)
  return error
}

export const budgetMessage = (runId: string, limit: string): string =>
  `the budget of the run ${runId} is used up: ${limit}`

/** The run whose budget is used up, for a value made by `budgetError`. */
export const budgetOwnerOf = (thrown: unknown): string | undefined =>
  typeof thrown === 'object' && thrown !== null ? owners.get(thrown) : undefined
