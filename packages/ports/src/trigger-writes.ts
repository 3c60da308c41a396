import type { FireStatus } from '@perdure/protocol'
import type { EpochMs } from './clock.ts'
import type { FireChange, FireRecord } from './fire-store.ts'
import type { TriggerRecord } from './trigger-store.ts'

/** A write of a trigger or of one of its fires. */
export type TriggerWrite =
  /**
   * Conflicts when the id is taken. With `maxTriggers`, also conflicts, with `isFull`, when there are that many triggers
   * already, even if several callers insert at the same time.
   */
  | { readonly type: 'trigger.insert'; readonly trigger: TriggerRecord; readonly maxTriggers?: number | undefined }
  /**
   * Replaces the record with the same id, except for `createdAt`. Conflicts unless the stored version is one less than
   * the new one.
   */
  | { readonly type: 'trigger.replace'; readonly trigger: TriggerRecord }
  /** Deletes the trigger with all its fires. Never conflicts; its count does not include the fires. */
  | { readonly type: 'trigger.delete'; readonly id: string }
  /**
   * Conflicts when the trigger does not exist, when the id is taken, and, for the cause `schedule`, when a scheduled
   * fire of the trigger has this `scheduledAt`. With `maxPending`, also conflicts, with `isFull`, when that many fires of
   * the trigger are pending already, even if several callers insert at the same time. With `isOptional`, a fire that cannot be
   * inserted is left out instead of causing a conflict.
   */
  | {
      readonly type: 'fire.insert'
      readonly fire: FireRecord
      readonly maxPending?: number | undefined
      readonly isOptional?: true | undefined
    }
  /** Changes the fire if its status is `from`; conflicts otherwise. A missing member of the change stays unchanged. */
  | { readonly type: 'fire.change'; readonly id: string; readonly from: FireStatus; readonly change: FireChange }
  /**
   * Sets the outcome of the run on a fire that is `started`; a no-op otherwise. If the fire is the `lastFireId` of its
   * trigger, also sets that trigger's `lastStatus` and increments its version.
   */
  | {
      readonly type: 'fire.end'
      readonly id: string
      readonly status: 'completed' | 'failed'
      readonly reason?: string | undefined
    }
  /** Deletes up to `limit` fires that were created before `before` and are neither pending nor started. */
  | { readonly type: 'fire.prune'; readonly before: EpochMs; readonly limit: number }

/** The conflicts that these writes can cause. */
export type TriggerWriteConflict =
  | {
      readonly type: 'trigger.insert'
      readonly current?: TriggerRecord | undefined
      readonly isFull?: true | undefined
    }
  | { readonly type: 'trigger.replace'; readonly current?: TriggerRecord | undefined }
  | { readonly type: 'fire.insert'; readonly current?: FireRecord | undefined; readonly isFull?: true | undefined }
  | { readonly type: 'fire.change'; readonly current?: FireRecord | undefined }
