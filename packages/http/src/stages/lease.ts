import { perdureError } from '@perdure/ports'
import type { CreateStage } from './stage.ts'

/**
 * Refuses requests that need a caller while other servers may take over the work of this one: its answers could be
 * outdated.
 */
export const createLease: CreateStage =
  ({ hasLease = () => true }) =>
  ({ route }) => {
    if (route === undefined || route.mounted.operation.scope === null || hasLease()) return undefined
    throw perdureError('storage-unavailable', {
      message: 'this server has lost contact with the database, and other servers may have taken over its work',
      hint: 'send the request to another server, or retry',
      retryAfter: 1_000,
    })
  }
