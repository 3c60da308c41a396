import type { RunError } from '@perdure/ports'

/** Errors stored by an earlier version may have a `kind` instead of a `code`. */
type StoredError = Omit<RunError, 'code'> & { readonly code?: string; readonly kind?: string }

export function toRunError(text: string): RunError {
  const { kind = 'run-failed', ...error }: StoredError = JSON.parse(text)
  return { code: kind, ...error }
}
