import type { AppError } from '@perdure/ports'
import { ERRORS } from '@perdure/protocol'

/** The body of every error response. */
export interface ErrorEnvelope {
  readonly error: string
  readonly message: string
  readonly hint?: string | undefined
  readonly requestId: string
}

export function toEnvelope(error: AppError, requestId: string): ErrorEnvelope {
  const message = error.id === 'internal-error' ? ERRORS[error.id].summary : error.message
  return { error: error.code || error.kind || 'unknown', message, hint: error.hint, requestId }
}
