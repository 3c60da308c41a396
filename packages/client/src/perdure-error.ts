import type { ErrorCode } from '@perdure/protocol'

/** What goes wrong on this side of the wire. */
export type ClientErrorCode =
  | 'network-failed' // no answer, or it broke off
  | 'timeout' // `timeoutMs` has passed; the call may still take effect, and its key finds out
  | 'invalid-answer' // not what this server sends: a proxy's page, or JSON that is none
  | 'protocol-violation' // the server closed a WebSocket as 4008, or refused a frame
  | 'client-closed' // `client.close()` was called

/** Any identifier of the error table, or one of the client. A newer server may send one that is on neither list. */
export type PerdureErrorCode = ErrorCode | ClientErrorCode | (string & {})

export interface PerdureErrorDetails {
  readonly status?: number | undefined
  readonly hint?: string | undefined
  readonly requestId?: string | undefined
  readonly retryAfterMs?: number | undefined
  readonly closeCode?: number | undefined
  readonly cause?: unknown
}

/** The one error of the client. Branch on `error`; message and hint are prose. */
export class PerdureError extends Error {
  /** Identifier of what went wrong, permanent. */
  readonly error: PerdureErrorCode
  /** HTTP status; 0 when there was no answer. */
  readonly status: number
  /** What to do about it, in the words of the server. */
  readonly hint: string | undefined
  /** Names the request in the server's log. */
  readonly requestId: string | undefined
  /** How long the server asks to wait. Milliseconds. */
  readonly retryAfterMs: number | undefined
  /** Code with which the WebSocket was closed, when that is the reason. */
  readonly closeCode: number | undefined

  constructor(error: PerdureErrorCode, message: string, details: PerdureErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'PerdureError'
    this.error = error
    this.status = details.status ?? 0
    this.hint = details.hint
    this.requestId = details.requestId
    this.retryAfterMs = details.retryAfterMs
    this.closeCode = details.closeCode
  }
}

export const isPerdureError = (thrown: unknown): thrown is PerdureError => thrown instanceof PerdureError
