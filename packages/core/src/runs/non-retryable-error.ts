import { isNamedError, NamedError } from '@perdure/ports'

/**
 * Thrown by the code of an agent or workflow for a failure that another try cannot repair. Neither the `retry` of a step
 * nor the `retry` of the registration applies to it.
 */
export class NonRetryableError extends NamedError {
  /** Recorded with the failed run. */
  readonly code: string

  constructor(message: string, options: { readonly code?: string; readonly cause?: unknown } = {}) {
    super('NonRetryableError', message, options.cause)
    this.code = options.code ?? 'run-failed'
  }

  /** Also matches errors from another copy of this package. */
  static override [Symbol.hasInstance](value: unknown): value is NonRetryableError {
    return isNamedError(value, 'NonRetryableError')
  }
}
