import type { RunError } from '@berth/ports'

const MAX_MESSAGE_LENGTH = 4_096

/** What a run's record says of something that was thrown: its `code`, else its `kind`, else `run-failed`. */
export function toRunError(thrown: unknown): RunError {
  const { code, kind, text } = read(thrown)
  const message = text.length > MAX_MESSAGE_LENGTH ? `${text.slice(0, MAX_MESSAGE_LENGTH - 1)}…` : text
  if (isIdentifier(code)) return { code, message }
  if (isIdentifier(kind)) return { kind, message }
  return { code: 'run-failed', message }
}

/** Any value can be thrown, also one that throws in turn when it is read or printed. */
function read(thrown: unknown): { readonly code?: unknown; readonly kind?: unknown; readonly text: string } {
  try {
    const { code, kind, message } = isObject(thrown) ? thrown : { code: undefined, kind: undefined, message: thrown }
    return { code, kind, text: typeof message === 'string' && message !== '' ? message : String(thrown) }
  } catch {
    return { text: 'something that cannot be read was thrown' }
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const isIdentifier = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= 128
