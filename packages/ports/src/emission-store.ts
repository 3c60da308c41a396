import type { EpochMs } from './clock.ts'
import type { JsonText } from './values/json-text.ts'

/**
 * One part of the delivery of an accepted named event: waiting calls that the event still has to end. Excludes calls
 * that started to wait after the event was accepted.
 */
export interface EmissionPart {
  readonly id: string
  readonly eventName: string
  readonly payload: JsonText // becomes the result of each call
  readonly waits: readonly { readonly runId: string; readonly seq: number }[]
  readonly createdAt: EpochMs
}

/**
 * Port. Reads accepted events that are not fully delivered; every write goes through `UnitOfWork`. Must pass
 * `emissionStoreContract`.
 */
export interface EmissionStore {
  /**
   * Lists the remaining parts in insertion order. The list ends like a page, after `limit` parts or at `MAX_PAGE_BYTES`.
   * It is empty only when no parts remain.
   */
  list(limit: number): Promise<readonly EmissionPart[]>
}
