import type { RunError } from '@perdure/ports'
import { readThrown, textOfThrown } from './thrown-value.ts'

const MAX_MESSAGE_LENGTH = 4_096

/** The error to record for a thrown value. Keeps the `code` of the value, else its `kind`, else uses `run-failed`. */
export function toRunError(thrown: unknown): RunError {
  const { code, kind } = readThrown(thrown, ['code', 'kind'])
  const text = textOfThrown(thrown)
  const message = text.length > MAX_MESSAGE_LENGTH ? `${text.slice(0, MAX_MESSAGE_LENGTH - 1)}…` : text
  if (isIdentifier(code)) return { code, message }
  if (isIdentifier(kind)) return { kind, message }
  return { code: 'run-failed', message }
}

const isIdentifier = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= 128
