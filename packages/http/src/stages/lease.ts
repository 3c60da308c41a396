import { perdureError } from '@perdure/ports'
import type { CreateStage } from './stage.ts'

/**
 * Refuses requests for content of the database while other servers may take over the work of this one: its answers could be
 * outdated. Health and metrics describe this process.
 */
export const createLease: CreateStage =
  ({ hasLease = () => true }) =>
  ({ route }) => {
    if (route === undefined || hasLease()) return undefined
    const { scope, describesProcess } = route.mounted.operation
    if (scope === null || describesProcess === true) return undefined
    throw perdureError('storage-unavailable', {
      message: 'this server has lost contact with the database, and other servers may have taken over its work',
      hint: 'send the request to another server, or retry',
      retryAfter: 1_000,
    })
  }
