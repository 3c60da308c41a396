import type { EpochMs } from './clock.ts'
import type { NewEvent } from './event-log.ts'
import type { StoredResponse } from './idempotency-store.ts'
import type { RunLabels } from './run-fields.ts'
import type { RunChange, RunRecord, RunStatus, RunUsage } from './run-store.ts'
import type { SubjectLimits, SubjectUsage } from './subject-usage.ts'

/** Writes of runs. */
export type RunWrite =
  /**
   * Conflicts, with the usage, when the subject has reached one of the limits on the UTC day of `now`. Put it before the
   * `run.insert` of a run of the subject: of concurrent commits that do so, no more succeed than the limits allow. Its count
   * is 0.
   */
  | {
      readonly type: 'run.admit'
      readonly subject: string
      readonly now: EpochMs
      readonly limits: SubjectLimits
    }
  /**
   * Deletes up to `limit` runs that were created and ended before `before`, with their calls, approvals and events, and
   * sets `trimmedThrough` to the last of these events. Keeps a run while its parent or another run of its thread is
   * queued, running or suspended. With `of`, deletes only runs of this owner, and replaces stored responses with their
   * content with `answer`. Never conflicts; its count is the number of deleted runs.
   */
  | {
      readonly type: 'run.prune'
      readonly before: EpochMs
      readonly limit: number
      readonly of?: { readonly owner: string; readonly answer: StoredResponse } | undefined
    }
  /**
   * Deletes what is known of deleted runs, of up to `limit` subjects and days. A day is kept until the day after it is over at
   * `now`, because the clock of another process may be behind. Never conflicts; its count is the number of deleted records.
   */
  | { readonly type: 'usage.prune'; readonly now: EpochMs; readonly limit: number }
  /**
   * Conflicts when the id is taken. An active run of a workflow also conflicts when its thread has another run of the
   * workflow that is queued, running or suspended; `reason` is then `thread`, and `current` the other run. A run may be inserted as
   * ended, together with the response of its key: it then equals a run that a transition has ended.
   */
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
      /** If given, also conflicts unless this is the start time of the run; `null` unless the run has none. */
      readonly startAt?: EpochMs | null | undefined
      readonly change: RunChange
      /** Marks the run, until `run.followed-up` removes the mark: its end is not applied to other records yet. */
      readonly needsFollowUp?: boolean | undefined
    }
  /** Removes the mark of `needsFollowUp`. Never conflicts; its count is 0 if the run has no such mark. */
  | { readonly type: 'run.followed-up'; readonly runId: string }
  /**
   * Withdraws the run `from` and every run that was created after it (ties by id), among the runs of the session that no
   * run has started. `by`, and runs that are withdrawn already, stay unchanged. Marks the active ones of them like
   * `needsFollowUp`, so that they are aborted also after a crash. Never conflicts; its count is the number of runs that it
   * withdraws, 0 if the session does not have the run `from`.
   */
  | { readonly type: 'run.withdraw'; readonly sessionId: string; readonly from: string; readonly by: string }
  /**
   * Marks the run like `needsFollowUp` if it is active, so that it is aborted also after a crash. Never conflicts; its count
   * is 0 if it marks no run.
   */
  | { readonly type: 'run.interrupt'; readonly runId: string }
  /** Adds to the usage of the run, whatever its status. Never conflicts; its count is 0 if there is no such run. */
  | { readonly type: 'run.charge'; readonly runId: string; readonly usage: RunUsage }
  /**
   * Appends the events if the run is `running` in this attempt and execution, and none of them otherwise. Never
   * conflicts, so that one commit can hold the events of many runs; its count is the number of appended events.
   */
  | {
      readonly type: 'run.emit'
      readonly runId: string
      readonly attempt: number
      readonly execution: number
      readonly events: readonly NewEvent[]
    }
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
  /**
   * Deletes every run of this thread of the workflow with its calls, approvals and events. Stored responses with content
   * of these rows are replaced with `answer`, so that their idempotency keys stay reserved. Facts and fires are kept,
   * without their references to the deleted rows, and the runs still count in the usage of their owners. Conflicts while one of
   * the runs is queued, running or suspended. Its count is the number of deleted runs. Event positions are not reused.
   */
  | {
      readonly type: 'thread.delete'
      readonly workflowId: string
      readonly threadId: string
      readonly answer: StoredResponse
    }

/** The run as it is stored, if it exists. */
export type RunWriteConflict =
  | { readonly type: 'run.admit'; readonly current: SubjectUsage }
  | {
      readonly type: 'run.insert'
      readonly reason?: 'thread' | undefined
      readonly current?: RunRecord | undefined
    }
  | { readonly type: 'run.transition' | 'run.fence' | 'thread.delete'; readonly current?: RunRecord | undefined }
