import type { EpochMs } from './clock.ts'
import type { HookDeliveryRecord, HookOutcome } from './hook-delivery-store.ts'

/** The writes of deliveries that hooks receive. */
export type HookWrite =
  /** Conflicts when the id is taken, and when the hook has received a delivery with this `deliveryId`. */
  | { readonly type: 'hook-delivery.insert'; readonly delivery: HookDeliveryRecord }
  /** Replaces the outcome and increments `replays`. Conflicts unless the delivery was replayed `replays` times before. */
  | {
      readonly type: 'hook-delivery.replay'
      readonly id: string
      readonly replays: number
      readonly outcome: HookOutcome
    }
  /** Deletes up to `limit` deliveries that were created before `before`. Never conflicts. */
  | { readonly type: 'hook-delivery.prune'; readonly before: EpochMs; readonly limit: number }

/** The conflicts that these writes can cause. */
export interface HookWriteConflict {
  readonly type: 'hook-delivery.insert' | 'hook-delivery.replay'
  readonly current?: HookDeliveryRecord | undefined
}
