import { AppError } from '@berth/ports'

/** Commits a deed with its link of the audit chain: when that cannot be written, nothing is done. @throws AppError `audit-unavailable` */
export async function failClosed<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const isStorage = error instanceof AppError && (error.id === 'storage-full' || error.id === 'SQLITE_BUSY')
    throw isStorage ? new AppError('audit-unavailable', { retryAfterMs: 5_000, cause: error }) : error
  }
}
