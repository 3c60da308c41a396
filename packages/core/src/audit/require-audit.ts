import { isRetryable, perdureError, type Refusal } from '@perdure/ports'

/**
 * Runs work that commits an audit entry, and converts a retryable storage error to `audit-unavailable`.
 *
 * @throws PerdureError `audit-unavailable`; any other error that `work` throws
 */
export async function requireAudit<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw isRetryable(error) ? auditUnavailable(error) : error
  }
}

export const auditUnavailable = (cause?: unknown): Refusal =>
  perdureError('audit-unavailable', { retryAfter: 5_000, cause })
