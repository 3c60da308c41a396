import { isNamedError, NamedError } from './named-error.ts'
import { isRefusal, perdureError, type Refusal, type RefusalOptions } from './perdure-error.ts'

/**
 * Reports that the storage is in use elsewhere: nothing was written, and a retry may soon succeed. Every adapter throws
 * this error, whatever its database, or `storage-unavailable` if it cannot reach its database. Clients receive the
 * code and kind of the row `SQLITE_BUSY` in `ERRORS`, which are part of the protocol.
 */
export const storageBusy = (options?: RefusalOptions): Refusal => perdureError('SQLITE_BUSY', options)

/** Whether the error reports a storage that was temporarily busy or out of reach: a retry may soon succeed. */
export const isStorageBusy = (error: unknown): error is Refusal =>
  isRefusal(error) && (error.code === 'SQLITE_BUSY' || error.code === 'storage-unavailable')

/** Whether the storage refused a call without writing anything, because it was busy, out of reach or full: a retry is safe. */
export const isRetryable = (error: unknown): error is Refusal =>
  isStorageBusy(error) || (isRefusal(error) && error.code === 'storage-full')

/** Whether the storage is the cause of the error, and not the request: it was busy, out of reach, full or has failed. */
export const isStorageError = (error: unknown): boolean =>
  isRetryable(error) || (isRefusal(error) && error.code === 'storage-failed')

const LEASE_LOST = 'LeaseLost'

/**
 * Reports that other processes have removed this process from the cluster and may have taken over its runs. It can write
 * nothing more and must end.
 */
export const leaseLost = (): Refusal =>
  perdureError('storage-failed', {
    message: 'Another process has taken over the database.',
    cause: new NamedError(LEASE_LOST, 'the row of this process was deleted from the table nodes'),
  })

export const isLeaseLost = (error: unknown): boolean => error instanceof Error && isNamedError(error.cause, LEASE_LOST)
