import type { Refusal } from '@perdure/ports'
import { ERRORS } from '@perdure/protocol'

/** The body of every error response. */
export interface ErrorEnvelope {
  readonly error: string
  readonly message: string
  readonly hint?: string | undefined
  readonly requestId: string
}

export function toEnvelope(error: Refusal, requestId: string): ErrorEnvelope {
  const message = error.code === 'internal-error' ? ERRORS[error.code].summary : error.message
  return { error: error.code || error.kind || 'unknown', message, hint: error.hint, requestId }
}
