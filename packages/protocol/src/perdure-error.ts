import type { ErrorCode, StartErrorKind } from './errors.ts'

/** Errors raised by the client itself. */
export type ClientErrorCode =
  | 'network-failed' // no response, or an incomplete response
  | 'timeout' // `timeoutMs` elapsed; the call may still take effect: repeat it with the same key to find out
  | 'invalid-answer' // not a Perdure response, such as a proxy's error page or malformed JSON
  | 'protocol-violation' // the server closed the WebSocket with 4008 or rejected a frame
  | 'client-closed' // `client.close()` was called
  | 'replay-gap' // events of a run that is followed are no longer available

/** A code of the server, of a refused start or of the client. A newer server may send a code that is not listed here. */
export type PerdureErrorCode = ErrorCode | StartErrorKind | ClientErrorCode | (string & {})

export interface PerdureErrorDetails {
  readonly kind?: string | undefined
  readonly status?: number | undefined
  readonly hint?: string | undefined
  readonly requestId?: string | undefined
  readonly retryAfter?: number | undefined
  readonly closeCode?: number | undefined
  readonly cause?: unknown
}

const ERROR = 'PerdureError'
const START_ERROR = 'StartError'

/**
 * The only error class of server and client. Branch on `code`; `message` and `hint` may change. Members without a value
 * are absent.
 */
export class PerdureError extends Error {
  /** Stable error code. */
  readonly code: PerdureErrorCode
  /** The second identifier of an error that has one. */
  declare readonly kind: string | undefined
  /** HTTP status; `undefined` if there was no response. */
  declare readonly status: number | undefined
  /** How to fix the problem. */
  declare readonly hint: string | undefined
  /** Identifies the request in the server's log. */
  declare readonly requestId: string | undefined
  /** How long to wait before a retry. Milliseconds. */
  declare readonly retryAfter: number | undefined
  /** WebSocket close code, if the error comes from a closed WebSocket. */
  declare readonly closeCode: number | undefined

  constructor(code: PerdureErrorCode, message: string, { cause, ...details }: PerdureErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = ERROR
    this.code = code
    for (const [name, value] of Object.entries(details)) if (value !== undefined) Object.assign(this, { [name]: value })
  }

  /**
   * Also matches errors from another copy of this package: an adapter, an agent and the standalone command can each
   * bundle their own copy. A derived class matches only its own instances.
   */
  static override [Symbol.hasInstance](value: unknown): value is PerdureError {
    // biome-ignore lint/complexity/noThisInStatic: a derived class inherits the method
    return super[Symbol.hasInstance](value) || (this === PerdureError && isNamed(value, [ERROR, START_ERROR]))
  }
}

/** The error of a refused start. */
export class StartError extends PerdureError {
  declare readonly code: StartErrorKind
  declare readonly kind: StartErrorKind
  declare readonly hint: string

  constructor(
    kind: StartErrorKind,
    options: { readonly message: string; readonly hint: string; readonly cause?: unknown },
  ) {
    super(kind, options.message, { kind, hint: options.hint, cause: options.cause })
    this.name = START_ERROR
  }

  /** Also matches errors from another copy of this package. */
  static override [Symbol.hasInstance](value: unknown): value is StartError {
    return isNamed(value, [START_ERROR])
  }
}

export const isPerdureError = (thrown: unknown): thrown is PerdureError => thrown instanceof PerdureError

const isNamed = (value: unknown, names: readonly string[]): boolean =>
  value instanceof Error && names.includes(value.name) && typeof (value as Partial<PerdureError>).code === 'string'
