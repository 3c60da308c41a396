import { isRefusal } from '@perdure/ports'
import type { AbortRun, AbortRunRequest } from './abort-request.ts'

/** Aborts a run that was listed as active. `false` if it has ended, or has been deleted, in the meantime. */
export async function abortIfActive(abortRun: AbortRun, request: AbortRunRequest): Promise<boolean> {
  try {
    await abortRun(request)
    return true
  } catch (error) {
    if (isRefusal(error) && (error.code === 'run-not-active' || error.code === 'run-not-found')) return false
    throw error
  }
}
