import { readThrown } from '../runs/thrown-value.ts'

/** The properties of a thrown value that `retry` and `fallback` read; errors of other libraries may have them too. */
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

/** Whether the caller aborted; anything thrown after that is a consequence of the abort. */
export const isAbort = (thrown: unknown, signal: AbortSignal): boolean =>
  signal.aborted || traitsOf(thrown).name === 'AbortError' || isAbortedTool(thrown)

function isAbortedTool(thrown: unknown): boolean {
  const { name, kind } = traitsOf(thrown)
  return name === 'ToolError' && kind === 'aborted'
}

/** A signal that never aborts, for callers without a signal. */
export const neverAborted = (): AbortSignal => new AbortController().signal
