import type { HookDeliveryStatus } from '@perdure/protocol'
import type { EpochMs } from './clock.ts'
import type { Page, PageQuery } from './page.ts'
import type { JsonText } from './values/json-text.ts'

/** What a delivery caused. */
export interface HookOutcome {
  readonly status: HookDeliveryStatus
  readonly reason?: string | undefined // why it is ignored or dead, or which event it did not emit
  readonly event?: string | undefined // name of the event that it emitted
  readonly fireIds: readonly string[] // fires of triggers, not those of the event
  readonly handledAt: EpochMs
}

/** A verified request of another service to a hook of this server. Unlike a `DeliveryRecord`, it was received, not sent. */
export interface HookDeliveryRecord extends HookOutcome {
  readonly id: string
  readonly hookId: string
  /** The id that the sender gave the delivery. The sender repeats a delivery under the same id. */
  readonly deliveryId: string
  readonly headers: JsonText // the stored headers, by their name in lower case
  readonly body: JsonText // the text of the body, as a JSON string
  readonly replays: number // how often it was handled again
  readonly createdAt: EpochMs
}

/** Port. Reads what hooks have received; every write goes through `UnitOfWork`. Must pass `hookDeliveryStoreContract`. */
export interface HookDeliveryStore {
  find(id: string): Promise<HookDeliveryRecord | undefined>
  /** Finds the delivery that a hook received under this id of the sender. */
  findReceived(hookId: string, deliveryId: string): Promise<HookDeliveryRecord | undefined>
  /** Lists the deliveries of a hook, optionally with one status, ordered by creation (ties by id). */
  list(
    filter: { readonly hookId: string; readonly status?: HookDeliveryStatus | undefined },
    page: PageQuery,
  ): Promise<Page<HookDeliveryRecord>>
}
