import { ERRORS, type ErrorCode, type ErrorSpec, PerdureError, type PerdureErrorDetails } from '@perdure/protocol'

export interface RefusalOptions extends Pick<PerdureErrorDetails, 'retryAfter' | 'cause'> {
  /** Default: the summary of the row in `ERRORS`. */
  readonly message?: string
  /** How to fix the problem; shown to the caller. */
  readonly hint?: string
}

/** An error that this server raised itself: its code is a row of `ERRORS`. */
export interface Refusal extends PerdureError {
  readonly code: ErrorCode
  readonly status: number
}

/** Marks refusals, for every copy of this package. */
const REFUSAL = Symbol.for('perdure.refusal')

/**
 * Creates the error of a refused request. The row of the code in `ERRORS` gives the status, the message and the kind:
 * the alias of the code, or the code itself if its family is `kind`.
 */
export function perdureError(code: ErrorCode, { message, ...details }: RefusalOptions = {}): Refusal {
  const { status, family, alias, summary }: ErrorSpec = ERRORS[code]
  const kind = family === 'kind' ? code : alias
  const error = new PerdureError(code, message ?? summary, { kind, status, ...details })
  return Object.defineProperty(error, REFUSAL, { value: true }) as Refusal
}

/**
 * Whether a value is an error that a server of this process raised itself, even with another copy of this package. An
 * error that a client received from a server is not, whatever its code.
 */
export const isRefusal = (value: unknown): value is Refusal =>
  value instanceof PerdureError && REFUSAL in value && Object.hasOwn(ERRORS, value.code)
