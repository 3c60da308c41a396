import type { PerdureError } from '@perdure/client'

/** Compares the name instead of using `instanceof`, because commands without a client do not load the class. */
export const isClientError = (thrown: unknown): thrown is PerdureError =>
  thrown instanceof Error && thrown.name === 'PerdureError'
