import { fromJsonText, type JsonText, type RunRecord, toJsonText } from '@perdure/ports'
import type { WaitingFor } from './run-outcome.ts'

/** How the code of a run differs from its recorded calls. */
export interface Divergence {
  readonly seq: number
  /** Kind and name of the recorded call. */
  readonly expected: string
  /** Kind and name of the call that the code made; `null` when the code ended instead. */
  readonly found: string | null
}

/** The version of a registration that a run needs and that is not registered. */
export interface MissingVersion {
  readonly version: string
}

/** Why the code of a run could not continue. */
export type ParkReason = Divergence | MissingVersion

/** The stored form of a run that is no longer parked; a missing value would leave the stored one unchanged. */
export const NOT_PARKED = toJsonText(null)

export const storeParked = (reason: ParkReason): JsonText => toJsonText(reason)

/** Whether the run is parked, or was queued from there and has not continued yet. */
export const wasParked = ({ parked }: Pick<RunRecord, 'parked'>): boolean =>
  parked !== undefined && parked !== NOT_PARKED

/** Why a suspended run is parked; `undefined` for any other run. */
export function parkReasonOf(run: Pick<RunRecord, 'status' | 'parked'>): ParkReason | undefined {
  if (run.status !== 'suspended' || run.parked === undefined) return undefined
  return (fromJsonText(run.parked) as ParkReason | null) ?? undefined
}

/** The change that ends the parking of a run, for the commit that makes the run continue or wait for something else. */
export const unparked = (run: Pick<RunRecord, 'parked'>): { readonly parked?: JsonText } =>
  wasParked(run) ? { parked: NOT_PARKED } : {}

export const codeWait = (reason: ParkReason): WaitingFor => ({ kind: 'code', ...reason })
