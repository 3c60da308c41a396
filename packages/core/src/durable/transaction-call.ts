import { CONFLICT, retryConflicts } from '../concurrency/retry-conflicts.ts'
import type { CallScope } from './call-scope.ts'
import type { Effect } from './effect.ts'
import { completion, type StepRef } from './perform-step.ts'
import { isOverQuota, toRecordedResult } from './recorded-result.ts'
import { callWork } from './step-call.ts'

/**
 * A durable call whose effect is in the storage itself: its writes and the record that it completed are one commit, so
 * neither a crash nor a re-execution applies it twice. Calls `decide` again after a write conflict.
 *
 * @throws PerdureError `step-failed` with what `decide` throws
 */
export function callTransaction<T>(
  scope: CallScope,
  name: string,
  decide: (step: StepRef) => Promise<Effect<T>>,
): Promise<T> {
  return callWork<T>(scope, name, {
    options: {},
    perform: (step) =>
      retryConflicts(async () => {
        const { writes, events = [], value, refuse, onCommitted } = await decide(step)
        const result = await toRecordedResult(scope, step, value)
        const done = completion(scope, step, result)
        const conflict = await scope.journal.recordAlone({
          writes: [...writes, ...(done.writes ?? [])],
          events: [...events, ...(done.events ?? [])],
        })
        if (conflict === undefined) {
          onCommitted?.()
          return result
        }
        if (isOverQuota(result, conflict)) throw scope.resultFiles.quotaExceeded()
        const refused = refuse?.(conflict)
        if (refused !== undefined) throw refused
        return CONFLICT
      }),
  })
}
