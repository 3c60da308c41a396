import type { PerdureError } from '@perdure/client'

/** By its name: a command that needs no client has not loaded the class. */
export const isClientError = (thrown: unknown): thrown is PerdureError =>
  thrown instanceof Error && thrown.name === 'PerdureError'
