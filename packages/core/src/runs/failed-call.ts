import type { FailedCall } from '@perdure/ports'

const calls = new WeakMap<object, FailedCall>()

/** Remembers which durable call threw the error, however the code of the run passes the error on. */
export function markFailedCall<E extends Error>(error: E, { seq, name }: FailedCall): E {
  calls.set(error, { seq, name })
  return error
}

/** The durable call that threw this value; `undefined` for any other value. */
export const failedCallOf = (thrown: unknown): FailedCall | undefined =>
  typeof thrown === 'object' && thrown !== null ? calls.get(thrown) : undefined
