import { readThrown } from '../runs/thrown-value.ts'

/** What `retry` and `fallback` look at in a thrown value; errors that are not ours may carry it too. */
export interface FailureTraits {
  readonly name?: unknown
  readonly kind?: unknown
  readonly retryable?: unknown
  readonly retryAfterMs?: unknown
  readonly retryAfterDate?: unknown
}

export const traitsOf = (thrown: unknown): FailureTraits => readThrown(thrown, TRAITS)

const TRAITS = ['name', 'kind', 'retryable', 'retryAfterMs', 'retryAfterDate'] as const

export const isRetryable = (thrown: unknown): boolean => traitsOf(thrown).retryable === true

/** Whether the caller gave up: whatever is thrown after that is a consequence of it. */
export const isAbort = (thrown: unknown, signal: AbortSignal): boolean =>
  signal.aborted || traitsOf(thrown).name === 'AbortError' || isAbortedTool(thrown)

function isAbortedTool(thrown: unknown): boolean {
  const { name, kind } = traitsOf(thrown)
  return name === 'ToolError' && kind === 'aborted'
}

/** For callers without a signal. */
export const neverAborted = (): AbortSignal => new AbortController().signal
