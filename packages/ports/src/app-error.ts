import { ERRORS, type ErrorCode, START_ERRORS, type StartErrorKind } from '@perdure/protocol'

export interface AppErrorOptions {
  readonly message?: string
  /** What to do about it; shown to the caller. */
  readonly hint?: string
  readonly retryAfterMs?: number
  readonly cause?: unknown
}

/** The one error of a refused request. Its identifier stands in `code` or `kind`, as its row in `ERRORS` says. */
export class AppError extends Error {
  readonly id: ErrorCode
  readonly code?: string
  readonly kind?: string
  readonly hint: string | undefined
  readonly retryAfterMs: number | undefined

  constructor(id: ErrorCode, options: AppErrorOptions = {}) {
    super(options.message ?? ERRORS[id].summary, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.id = id
    this.hint = options.hint
    this.retryAfterMs = options.retryAfterMs
    if (ERRORS[id].family === 'code') this.code = id
    else this.kind = id
    if (id === 'SQLITE_BUSY') this.kind = 'sqlite-busy'
  }

  /** One of another copy of this package too: an adapter may bring its own, and the standalone command holds one. */
  static override [Symbol.hasInstance](value: unknown): value is AppError {
    return isNamed(value, 'AppError') && Object.hasOwn(ERRORS, (value as AppError).id)
  }
}

/** The one error of a refused start. */
export class StartError extends Error {
  readonly kind: StartErrorKind
  readonly hint: string

  constructor(
    kind: StartErrorKind,
    options: { readonly message: string; readonly hint: string; readonly cause?: unknown },
  ) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'StartError'
    this.kind = kind
    this.hint = options.hint
  }

  /** One of another copy of this package too. */
  static override [Symbol.hasInstance](value: unknown): value is StartError {
    return isNamed(value, 'StartError') && Object.hasOwn(START_ERRORS, (value as StartError).kind)
  }
}

const isNamed = (value: unknown, name: string): value is Error => value instanceof Error && value.name === name
