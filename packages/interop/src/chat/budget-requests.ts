import { BUDGET_CALL, fieldsOf, isFields, type LogEvent } from '@perdure/core'

/**
 * Leaves out the requests of a run to go on beyond its budget. The client of a run must not decide them, and does not see costs:
 * for it, the run works until somebody has decided.
 */
export function withoutBudgetRequests(event: LogEvent): readonly LogEvent[] {
  const fields = fieldsOf(event)
  if (fields.name === BUDGET_CALL && event.type.startsWith('approval.')) return []
  const { waitingFor } = fields
  if (event.type !== 'run.suspended' || !Array.isArray(waitingFor)) return [event]
  const others = waitingFor.filter((wait) => !(isFields(wait) && wait.name === BUDGET_CALL))
  return others.length === waitingFor.length ? [event] : [{ ...event, payload: { ...fields, waitingFor: others } }]
}
