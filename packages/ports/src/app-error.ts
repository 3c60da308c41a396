import { ERRORS, type ErrorCode, type ErrorSpec, START_ERRORS, type StartErrorKind } from '@perdure/protocol'
import { isNamedError, NamedError } from './named-error.ts'

export interface AppErrorOptions {
  readonly message?: string
  /** How to fix the problem; shown to the caller. */
  readonly hint?: string
  readonly retryAfterMs?: number
  readonly cause?: unknown
}

/**
 * The only error class for a refused request. The row of the error in `ERRORS` decides whether `code` or `kind` carries
 * its identifier.
 */
export class AppError extends NamedError {
  readonly id: ErrorCode
  readonly code?: string
  readonly kind?: string
  readonly hint: string | undefined
  readonly retryAfterMs: number | undefined

  constructor(id: ErrorCode, options: AppErrorOptions = {}) {
    super('AppError', options.message ?? ERRORS[id].summary, options.cause)
    this.id = id
    this.hint = options.hint
    this.retryAfterMs = options.retryAfterMs
    const { family, alias }: ErrorSpec = ERRORS[id]
    if (family === 'code') this.code = id
    else this.kind = id
    if (alias !== undefined) this.kind = alias
  }

  /**
   * Also matches errors from another copy of this package: an adapter and the standalone command can each bundle their
   * own copy.
   */
  static override [Symbol.hasInstance](value: unknown): value is AppError {
    return isNamedError(value, 'AppError') && Object.hasOwn(ERRORS, (value as AppError).id)
  }
}

/** The only error class for a refused start. */
export class StartError extends NamedError {
  readonly kind: StartErrorKind
  readonly hint: string

  constructor(
    kind: StartErrorKind,
    options: { readonly message: string; readonly hint: string; readonly cause?: unknown },
  ) {
    super('StartError', options.message, options.cause)
    this.kind = kind
    this.hint = options.hint
  }

  /** Also matches errors from another copy of this package. */
  static override [Symbol.hasInstance](value: unknown): value is StartError {
    return isNamedError(value, 'StartError') && Object.hasOwn(START_ERRORS, (value as StartError).kind)
  }
}
