import type { BerthError } from '@berth/client'

/** By its name: a command that needs no client has not loaded the class. */
export const isClientError = (thrown: unknown): thrown is BerthError =>
  thrown instanceof Error && thrown.name === 'BerthError'
