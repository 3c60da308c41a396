import { NamedError } from '@perdure/ports'
import { PROVIDER_FAILURES, PROVIDER_STATUS_RULES, type ProviderFailureKind } from '@perdure/protocol'

export interface ProviderErrorOptions {
  readonly message?: string | undefined
  /** Defaults to the value for the kind in `PROVIDER_STATUS_RULES`, or to false if the kind has no rule. */
  readonly retryable?: boolean | undefined
  readonly status?: number | undefined // 0 is a timeout or a network failure
  readonly retryAfterMs?: number | undefined
  readonly retryAfterDate?: string | undefined
  readonly cause?: unknown
}

/**
 * Thrown by an agent when its model provider fails. `classifyProviderResponse` creates this error from an HTTP
 * response.
 */
export class ProviderError extends NamedError {
  readonly kind: ProviderFailureKind
  readonly retryable: boolean
  readonly status: number | undefined
  /** A numeric Retry-After, in milliseconds. */
  readonly retryAfterMs: number | undefined
  /** A Retry-After date as received; it becomes a delay only at the time of the retry. */
  readonly retryAfterDate: string | undefined
  /** Errors of the earlier candidates, oldest first; set by `fallback`. */
  declare readonly errors?: readonly unknown[]

  constructor(kind: ProviderFailureKind, options: ProviderErrorOptions = {}) {
    const { message = PROVIDER_FAILURES[kind], cause } = options
    super('ProviderError', message, cause)
    this.kind = kind
    this.retryable = options.retryable ?? isRetryableKind(kind)
    this.status = options.status
    this.retryAfterMs = options.retryAfterMs
    this.retryAfterDate = options.retryAfterDate
  }
}

const isRetryableKind = (kind: ProviderFailureKind) =>
  PROVIDER_STATUS_RULES.some((rule) => rule.kind === kind && rule.retryable)
