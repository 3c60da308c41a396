import type { ErrorCode } from '@perdure/protocol'
import { NonRetryableError } from './non-retryable-error.ts'
import { causesOf, isRefusalWith } from './thrown-value.ts'

/** Failures that another attempt would repeat: a failed validation, a used-up budget, code that no longer matches. */
const FINAL: readonly ErrorCode[] = [
  ...(['validation-failed', 'invalid-input', 'invalid-output', 'body-too-large'] as const),
  ...(['budget-exhausted', 'workflow-divergence', 'run-not-active'] as const),
]

/** Whether another attempt cannot repair what was thrown. A thrown value counts together with its causes. */
export const isFinalFailure = (thrown: unknown): boolean =>
  [thrown, ...causesOf(thrown)].some((one) => isNonRetryable(one) || FINAL.some((id) => isRefusalWith(one, id)))

/** Whether the value, without its causes, is a `NonRetryableError`. Never throws. */
export function isNonRetryable(thrown: unknown): boolean {
  try {
    return thrown instanceof NonRetryableError
  } catch {
    return false
  }
}
