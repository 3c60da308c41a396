/** A rejection that may stay unobserved: to emit or record something need not be awaited. */
export function handledRejection(error: unknown): Promise<never> {
  const rejection = Promise.reject(error)
  rejection.catch(() => undefined)
  return rejection
}
