import { AppError, isRetryable } from '@perdure/ports'

/** Nothing is done or shown when the entry cannot be written. @throws AppError `audit-unavailable` */
export async function recording<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw isRetryable(error) ? auditUnavailable(error) : error
  }
}

export const auditUnavailable = (cause?: unknown): AppError =>
  new AppError('audit-unavailable', { retryAfterMs: 5_000, cause })
