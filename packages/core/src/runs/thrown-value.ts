import { AppError } from '@perdure/ports'
import type { ErrorCode } from '@perdure/protocol'

/** Whether this is our error with that id. Anything can be thrown, also a proxy that throws when it is looked at. */
export function isAppError(thrown: unknown, id: ErrorCode): thrown is AppError {
  try {
    return thrown instanceof AppError && thrown.id === id
  } catch {
    return false
  }
}

/** Members of something that was thrown; none when it cannot be read. */
export function readThrown<Name extends string>(
  thrown: unknown,
  names: readonly Name[],
): { readonly [N in Name]?: unknown } {
  if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null) return {}
  const found: { [N in Name]?: unknown } = {}
  for (const name of names) {
    try {
      found[name] = (thrown as Readonly<Record<string, unknown>>)[name]
    } catch {
      // One member that cannot be read says nothing of the others.
    }
  }
  return found
}

/** What it says of itself, in words. */
export function textOfThrown(thrown: unknown): string {
  try {
    const message = typeof thrown === 'object' ? (thrown as { readonly message?: unknown } | null)?.message : undefined
    return typeof message === 'string' && message !== '' ? message : String(thrown)
  } catch {
    return 'something that cannot be read was thrown'
  }
}
