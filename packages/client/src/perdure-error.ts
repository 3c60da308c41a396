import type { ErrorCode } from '@perdure/protocol'

/** Errors raised by the client itself. */
export type ClientErrorCode =
  | 'network-failed' // no response, or an incomplete response
  | 'timeout' // `timeoutMs` elapsed; the call may still take effect: repeat it with the same key to find out
  | 'invalid-answer' // not a Perdure response, such as a proxy's error page or malformed JSON
  | 'protocol-violation' // the server closed the WebSocket with 4008 or rejected a frame
  | 'client-closed' // `client.close()` was called

/** A server error code or a client error code. A newer server may send a code that is not listed here. */
export type PerdureErrorCode = ErrorCode | ClientErrorCode | (string & {})

export interface PerdureErrorDetails {
  readonly status?: number | undefined
  readonly hint?: string | undefined
  readonly requestId?: string | undefined
  readonly retryAfterMs?: number | undefined
  readonly closeCode?: number | undefined
  readonly cause?: unknown
}

/** The only error class the client throws. Branch on `error`; `message` and `hint` may change. */
export class PerdureError extends Error {
  /** Stable error code. */
  readonly error: PerdureErrorCode
  /** HTTP status; `undefined` if there was no response. */
  readonly status: number | undefined
  /** The server's advice on how to fix the error. */
  readonly hint: string | undefined
  /** Identifies the request in the server's log. */
  readonly requestId: string | undefined
  /** How long the server asks the client to wait before it retries. Milliseconds. */
  readonly retryAfterMs: number | undefined
  /** WebSocket close code, if the error comes from a closed WebSocket. */
  readonly closeCode: number | undefined

  constructor(error: PerdureErrorCode, message: string, details: PerdureErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'PerdureError'
    this.error = error
    this.status = details.status
    this.hint = details.hint
    this.requestId = details.requestId
    this.retryAfterMs = details.retryAfterMs
    this.closeCode = details.closeCode
  }
}

export const isPerdureError = (thrown: unknown): thrown is PerdureError => thrown instanceof PerdureError
