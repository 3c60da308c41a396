import type { EpochMs } from './clock.ts'
import type { JsonText } from './json-text.ts'

/** Calls that an accepted event still has to end: those that waited for it when it was accepted, and no later ones. */
export interface EmissionPart {
  readonly id: string
  readonly eventName: string
  readonly payload: JsonText // becomes the result of each call
  readonly waits: readonly { readonly runId: string; readonly seq: number }[]
  readonly createdAt: EpochMs
}

/** Port. Reads of accepted events that are not yet handed out; written through `UnitOfWork`. Passes `emissionStoreContract`. */
export interface EmissionStore {
  /** The parts that are left, in the order in which they were inserted. */
  list(limit: number): Promise<readonly EmissionPart[]>
}
