/**
 * A rejected promise that is never reported as unhandled, because callers of `emit` and `record` do not have to await
 * it.
 */
export function handledRejection(error: unknown): Promise<never> {
  const rejection = Promise.reject(error)
  rejection.catch(() => undefined)
  return rejection
}
