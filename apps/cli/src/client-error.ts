import { isRefusal, PerdureError, StartError } from '@perdure/ports'

/** Whether a client threw this error: a server refused its call, or could not be reached. */
export const isClientError = (thrown: unknown): thrown is PerdureError =>
  thrown instanceof PerdureError && !(thrown instanceof StartError) && !isRefusal(thrown)
