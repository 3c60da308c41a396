/** A rejection that does not become unhandled: callers of `emit` and `record` do not have to await them. */
export function handledRejection(error: unknown): Promise<never> {
  const rejection = Promise.reject(error)
  rejection.catch(() => undefined)
  return rejection
}
