import type { ProviderFailureKind } from '@perdure/protocol'
import { isAbort, isRetryable, neverAborted, traitsOf } from './thrown.ts'

export interface FallbackOptions {
  /** Kinds of failure that move on to the next candidate, besides everything retryable. */
  readonly on?: readonly ProviderFailureKind[] | undefined // capacity, rate-limit and transient when missing
  readonly signal?: AbortSignal | undefined
}

/** The signal is the one in the options, or one that never aborts. */
export type FallbackCandidate<T> = (signal: AbortSignal) => T | PromiseLike<T>

const DEFAULT_KINDS: readonly ProviderFailureKind[] = ['capacity', 'rate-limit', 'transient']

/**
 * Calls the candidates in order until one returns. The last error is thrown as it is; what the candidates before it
 * threw stands in its `errors`, oldest first, unless it has `errors` of its own. An abort is never fallen back from.
 *
 * @throws RangeError when there is no candidate
 */
export async function fallback<T>(
  candidates: readonly FallbackCandidate<T>[],
  { on = DEFAULT_KINDS, signal = neverAborted() }: FallbackOptions = {},
): Promise<T> {
  const earlier: unknown[] = []
  for (const [index, candidate] of candidates.entries()) {
    signal.throwIfAborted()
    try {
      return await candidate(signal)
    } catch (error) {
      if (isAbort(error, signal)) throw error
      const movesOn = isRetryable(error) || on.some((kind) => kind === traitsOf(error).kind)
      if (!movesOn || index === candidates.length - 1) throw withEarlier(error, earlier)
      earlier.push(error)
    }
  }
  throw new RangeError('fallback needs at least one candidate')
}

function withEarlier(error: unknown, earlier: readonly unknown[]): unknown {
  const others = earlier.filter((other) => other !== error)
  // Reflect.set leaves a frozen error alone instead of throwing another one over it.
  try {
    if (others.length > 0 && error instanceof Error && !('errors' in error)) Reflect.set(error, 'errors', others)
  } catch {
    // What cannot be looked at is thrown as it is.
  }
  return error
}
