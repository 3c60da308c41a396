import { perdureError } from '@perdure/ports'

/**
 * Maximum attempts to commit a decision. Of all writers that change the same row at once, one succeeds in each round,
 * so up to this many writers may compete.
 */
const MAX_COMMIT_ATTEMPTS = 100

/** Returned by an attempt whose commit met a write conflict and wrote nothing. */
export const CONFLICT = Symbol('conflict')

/**
 * Calls `attempt` until it returns something other than `CONFLICT`.
 *
 * @throws PerdureError `internal-error` after `maxAttempts` conflicts; whatever `attempt` throws
 */
export async function retryConflicts<T>(
  attempt: () => Promise<T | typeof CONFLICT>,
  maxAttempts = MAX_COMMIT_ATTEMPTS,
): Promise<T> {
  for (let attempts = 0; attempts < maxAttempts; attempts++) {
    const result = await attempt()
    if (result !== CONFLICT) return result as T
  }
  throw perdureError('internal-error', { message: `gave up after ${maxAttempts} write conflicts` })
}
