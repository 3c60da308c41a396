import { AppError, type AppErrorOptions } from './app-error.ts'

/**
 * The error of a storage that is in use elsewhere: nothing was written, and a retry soon may succeed. Every adapter
 * throws it, whatever its database. Clients receive the identifiers of the row `SQLITE_BUSY`, which are part of the
 * protocol.
 */
export const storageBusy = (options?: AppErrorOptions): AppError => new AppError('SQLITE_BUSY', options)

/** Whether the storage was busy for a moment. */
export const isStorageBusy = (error: unknown): error is AppError =>
  error instanceof AppError && error.id === 'SQLITE_BUSY'

/** Whether the storage refused a call without writing anything, because it was busy or full: a retry is safe. */
export const isRetryable = (error: unknown): error is AppError =>
  isStorageBusy(error) || (error instanceof AppError && error.id === 'storage-full')

/** Whether the storage is the cause of the error, and not the request: it was busy, full or has failed. */
export const isStorageError = (error: unknown): boolean =>
  isRetryable(error) || (error instanceof AppError && error.id === 'storage-failed')
