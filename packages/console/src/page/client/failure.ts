import { isPerdureError } from '@perdure/client'

/** An error, in words for the reader. */
export interface Failure {
  readonly code: string
  readonly message: string
  readonly hint: string | undefined
  readonly status: number | undefined
}

export function failureOf(thrown: unknown): Failure {
  if (!isPerdureError(thrown)) {
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    return { code: 'unexpected', message, hint: 'reload the page', status: undefined }
  }
  const { code, message, hint, status } = thrown
  return { code, message, hint, status }
}
