import { AppError, type AppErrorOptions } from './app-error.ts'

/**
 * Reports that the storage is in use elsewhere: nothing was written, and a retry may soon succeed. Every adapter throws
 * this error, whatever its database. Clients receive the code and kind of the row `SQLITE_BUSY` in `ERRORS`, which are
 * part of the protocol.
 */
export const storageBusy = (options?: AppErrorOptions): AppError => new AppError('SQLITE_BUSY', options)

/** Whether the error reports a storage that was temporarily busy. */
export const isStorageBusy = (error: unknown): error is AppError =>
  error instanceof AppError && error.id === 'SQLITE_BUSY'

/** Whether the storage refused a call without writing anything, because it was busy or full: a retry is safe. */
export const isRetryable = (error: unknown): error is AppError =>
  isStorageBusy(error) || (error instanceof AppError && error.id === 'storage-full')

/** Whether the storage is the cause of the error, and not the request: it was busy, full or has failed. */
export const isStorageError = (error: unknown): boolean =>
  isRetryable(error) || (error instanceof AppError && error.id === 'storage-failed')
