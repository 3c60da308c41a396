import type { EpochMs } from './clock.ts'
import type { RunLabels } from './run-fields.ts'
import type { RunChange, RunRecord, RunStatus, RunUsage } from './run-store.ts'

/** Writes of runs. */
export type RunWrite =
  /** Conflicts when the id is taken. */
  | { readonly type: 'run.insert'; readonly run: RunRecord; readonly labels?: RunLabels | undefined }
  /**
   * Changes the run if its status is one of `from` and its attempt is `attempt`; conflicts otherwise. A change from
   * another status to `running` adds 1 to `execution`. A change from `running` to another status frees the slots that
   * the run holds without a `freeAt`. A change to a status other than `running` removes `executor`, unless it sets it.
   */
  | {
      readonly type: 'run.transition'
      readonly runId: string
      readonly from: readonly RunStatus[]
      readonly attempt: number
      /** If given, also conflicts unless this is the `execution` of the run. */
      readonly execution?: number | undefined
      /** If given, also conflicts unless this is the start time of the run. */
      readonly startAt?: EpochMs | undefined
      readonly change: RunChange
    }
  /** Adds to the usage of the run, whatever its status. Never conflicts; its count is 0 if there is no such run. */
  | { readonly type: 'run.charge'; readonly runId: string; readonly usage: RunUsage }
  /**
   * Conflicts unless the run is `running` in this attempt and, if `execution` is given, in this execution. Prevents code
   * that is left over from an earlier attempt or execution from writing.
   */
  | {
      readonly type: 'run.fence'
      readonly runId: string
      readonly attempt: number
      readonly execution?: number | undefined
    }

/** The run as it is stored, if it exists. */
export interface RunWriteConflict {
  readonly type: 'run.insert' | 'run.transition' | 'run.fence'
  readonly current?: RunRecord | undefined
}
