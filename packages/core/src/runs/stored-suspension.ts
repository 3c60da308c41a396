import { fromJsonText, type JsonText, type RunRecord, toJsonText } from '@perdure/ports'

/** The suspension of a run as its record stores it. */
export interface StoredSuspension {
  readonly state: unknown
  readonly approvalIds: readonly string[]
  /**
   * Durable calls up to this number belong to the part before the suspension; the resumed code starts with the next
   * number.
   */
  readonly throughSeq: number
  /** Names of `ctx.version` that were answered without a record before the suspension. */
  readonly passedVersions?: readonly string[]
  /** How often the run had suspended itself, this time included; missing in older records. */
  readonly part?: number
}

type Suspended = Pick<RunRecord, 'suspension' | 'resumption'>

export const storeSuspension = (stored: StoredSuspension): JsonText => toJsonText(stored)

export const readSuspension = ({ suspension }: Pick<RunRecord, 'suspension'>): StoredSuspension | undefined =>
  suspension === undefined ? undefined : (fromJsonText(suspension) as StoredSuspension)

/** The stored resumption of a run that returned `ctx.suspend(…)` and has not been resumed yet. */
export const NOT_RESUMED = toJsonText(null)

export const awaitsResume = (run: Suspended & Pick<RunRecord, 'status'>): boolean =>
  run.status === 'suspended' && isUnresumed(run)

/** Whether the run waits for a resume or, if it has ended, was waiting for one at its end. */
export const isUnresumed = ({ suspension, resumption }: Suspended): boolean =>
  suspension !== undefined && resumption === NOT_RESUMED

export const storeResumption = (payload: unknown): JsonText => toJsonText({ payload: payload ?? null })

/** The payload with which a run was resumed; `undefined` when it was not. */
export function readResumption({ resumption }: RunRecord): { readonly payload: unknown } | undefined {
  if (resumption === undefined || resumption === NOT_RESUMED) return undefined
  return fromJsonText(resumption) as { readonly payload: unknown }
}
