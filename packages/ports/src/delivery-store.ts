import type { DeliveryStatus } from '@perdure/protocol'
import type { EpochMs } from './clock.ts'
import type { Page, PageQuery } from './page.ts'

/** The delivery of one event to one webhook. It holds no content: the content is read from the event log. */
export interface DeliveryRecord {
  readonly id: string
  readonly webhookId: string
  readonly type: string // type of the event
  readonly position: number // position of the event in the log; 0 for a test delivery
  readonly status: DeliveryStatus
  readonly attempts: number // attempts that have ended
  readonly earlierAttempts: number // attempts before it was last redelivered by hand
  readonly dueAt: EpochMs // when it can be claimed; while it is claimed, when its lease expires
  readonly lease?: string | undefined // fencing token of the sender that claimed it
  readonly responseStatus?: number | undefined // HTTP status of the last attempt, if there was a response
  readonly error?: string | undefined // why the last attempt failed
  readonly endedAt?: EpochMs | undefined // when it was delivered or given up
  readonly createdAt: EpochMs
}

/** The outcome of an attempt. A missing member is removed from the delivery. */
export type DeliveryChange = Pick<
  DeliveryRecord,
  'status' | 'attempts' | 'dueAt' | 'responseStatus' | 'error' | 'endedAt'
>

export interface DeliveryCounts {
  readonly pending: number
  readonly dead: number
}

/** Port. Reads deliveries; every write goes through `UnitOfWork`. Must pass `deliveryStoreContract`. */
export interface DeliveryStore {
  find(id: string): Promise<DeliveryRecord | undefined>
  /** Lists the deliveries of a webhook, optionally with one status, ordered by creation (ties by id). */
  list(
    filter: { readonly webhookId: string; readonly status?: DeliveryStatus | undefined },
    page: PageQuery,
  ): Promise<Page<DeliveryRecord>>
  /**
   * Lists the pending deliveries of the webhook that were never attempted, ordered by position (ties by id), whether or
   * not they are claimed.
   */
  unattempted(webhookId: string, limit: number): Promise<readonly DeliveryRecord[]>
  /** Lists the pending deliveries of the webhook with an earlier attempt and `dueAt <= now`, earliest first (ties by id). */
  retries(webhookId: string, now: EpochMs, limit: number): Promise<readonly DeliveryRecord[]>
  counts(): Promise<DeliveryCounts>
}
