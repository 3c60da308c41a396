import type { EpochMs } from './clock.ts'
import type { DeliveryChange, DeliveryRecord } from './delivery-store.ts'
import type { WebhookRecord } from './webhook-store.ts'

/** How many webhooks there may be after an insertion. */
export interface WebhookLimits {
  readonly total?: number | undefined
  /** Of those that were created over the API, by the subject that creates this one. */
  readonly ofCreator?: number | undefined
}

/** The writes of webhooks and their deliveries. */
export type WebhookWrite =
  /**
   * Conflicts when the id is taken. With `limits`, also conflicts, naming the limit, when it is reached already, even if
   * several callers insert at the same time.
   */
  | { readonly type: 'webhook.insert'; readonly webhook: WebhookRecord; readonly limits?: WebhookLimits | undefined }
  /**
   * Replaces the record with the same id, except for `createdAt`. Conflicts unless the stored version is one less than
   * the new one.
   */
  | { readonly type: 'webhook.replace'; readonly webhook: WebhookRecord }
  /** Deletes the webhook with all its deliveries. Never conflicts; its count does not include the deliveries. */
  | { readonly type: 'webhook.delete'; readonly id: string }
  /**
   * Conflicts when the webhook does not exist, when the id is taken, and, unless its position is 0, when the webhook has
   * a delivery with this position.
   */
  | { readonly type: 'delivery.insert'; readonly delivery: DeliveryRecord }
  /** Claims the delivery until `until`; conflicts unless it is pending and `dueAt <= now`. */
  | {
      readonly type: 'delivery.claim'
      readonly id: string
      readonly lease: string
      readonly now: EpochMs
      readonly until: EpochMs
    }
  /** Applies the change and releases the lease; conflicts unless this lease still holds the delivery. */
  | {
      readonly type: 'delivery.change'
      readonly id: string
      readonly lease: string
      readonly change: DeliveryChange
    }
  /**
   * Makes the delivery pending and due at `now`, whatever its status, and counts its attempts as earlier ones. Conflicts
   * when there is no such delivery and while it is claimed.
   */
  | { readonly type: 'delivery.redeliver'; readonly id: string; readonly now: EpochMs }
  /**
   * Releases every lease, due at `now`: the process that held them died. Only valid at startup of the only process,
   * before it sends anything. Never conflicts.
   */
  | { readonly type: 'delivery.release'; readonly now: EpochMs }
  /** Deletes up to `limit` deliveries that were created before `before` and are not pending. Never conflicts. */
  | { readonly type: 'delivery.prune'; readonly before: EpochMs; readonly limit: number }

/** The conflicts that the writes of webhooks can cause. */
export type WebhookWriteConflict =
  | {
      readonly type: 'webhook.insert'
      readonly current?: WebhookRecord | undefined
      readonly reached?: keyof WebhookLimits | undefined
    }
  | { readonly type: 'webhook.replace'; readonly current?: WebhookRecord | undefined }
  | {
      readonly type: 'delivery.insert' | 'delivery.claim' | 'delivery.change' | 'delivery.redeliver'
      readonly current?: DeliveryRecord | undefined
    }
