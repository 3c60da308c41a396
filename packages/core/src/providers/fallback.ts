import type { ProviderFailureKind } from '@perdure/protocol'
import { isAbort, isRetryable, neverAborted, traitsOf } from './thrown.ts'

export interface FallbackOptions {
  /** Failure kinds after which the next candidate is tried, in addition to all retryable errors. */
  readonly on?: readonly ProviderFailureKind[] | undefined // default: capacity, rate-limit, transient
  readonly signal?: AbortSignal | undefined
}

/** Receives the signal from the options, or a signal that never aborts. */
export type FallbackCandidate<T> = (signal: AbortSignal) => T | PromiseLike<T>

const DEFAULT_KINDS: readonly ProviderFailureKind[] = ['capacity', 'rate-limit', 'transient']

/**
 * Calls the candidates in order until one returns. If every candidate fails, throws the last error unchanged, except
 * that its `errors` lists the errors of the earlier candidates, oldest first; an error that already has `errors` keeps
 * its own. The error of an abort is thrown at once.
 *
 * @throws RangeError if there is no candidate
 */
export async function fallback<T>(
  candidates: readonly FallbackCandidate<T>[],
  { on = DEFAULT_KINDS, signal = neverAborted() }: FallbackOptions = {},
): Promise<T> {
  const earlierErrors: unknown[] = []
  for (const [index, candidate] of candidates.entries()) {
    signal.throwIfAborted()
    try {
      return await candidate(signal)
    } catch (error) {
      if (isAbort(error, signal)) throw error
      const triesNext = isRetryable(error) || on.some((kind) => kind === traitsOf(error).kind)
      if (!triesNext || index === candidates.length - 1) throw attachEarlierErrors(error, earlierErrors)
      earlierErrors.push(error)
    }
  }
  throw new RangeError('fallback needs at least one candidate')
}

function attachEarlierErrors(error: unknown, earlierErrors: readonly unknown[]): unknown {
  const others = earlierErrors.filter((other) => other !== error)
  // `Reflect.set` ignores a frozen error; an assignment would throw and hide that error.
  try {
    if (others.length > 0 && error instanceof Error && !('errors' in error)) Reflect.set(error, 'errors', others)
  } catch {
    // A proxy may throw on access; rethrow the original error unchanged.
  }
  return error
}
