import { AppError } from '@perdure/ports'
import { MOST_TRIES } from '../concurrency/commit-attempts.ts'
import type { CallScope } from './call-scope.ts'
import type { Effect } from './effect.ts'
import { callWork, completion, resultText } from './step-call.ts'

/**
 * A durable call whose effect is in the storage itself: what it writes and the record that it was done are one commit, so
 * no crash and no re-execution does it twice. `decide` may be called again when another writer was faster.
 *
 * @throws AppError `step-failed` with what `decide` throws
 */
export function callTransaction<T>(scope: CallScope, name: string, decide: () => Promise<Effect<T>>): Promise<T> {
  return callWork<T>(scope, name, {
    options: {},
    async perform(step) {
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        const { writes, events = [], value, refuse } = await decide()
        const result = resultText(scope, value)
        const done = completion(scope, step, result)
        const conflict = await scope.journal.recordAlone({
          writes: [...writes, ...(done.writes ?? [])],
          events: [...events, ...(done.events ?? [])],
        })
        if (conflict === undefined) return result
        const refused = refuse?.(conflict)
        if (refused !== undefined) throw refused
      }
      throw new AppError('internal-error', { message: 'other writers were faster too many times' })
    },
  })
}
