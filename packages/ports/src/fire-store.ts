import type { FireStatus } from '@perdure/protocol'
import type { EpochMs } from './clock.ts'
import type { Page, PageQuery } from './page.ts'
import type { JsonText } from './values/json-text.ts'

/** One activation of a trigger. */
export interface FireRecord {
  readonly id: string
  readonly triggerId: string
  /** The scheduled occurrence; for an event, the delivery of a hook or a manual fire, when it arrived. */
  readonly scheduledAt: EpochMs
  readonly cause: 'schedule' | 'event' | 'manual'
  readonly status: FireStatus
  readonly input?: JsonText | undefined // input of the run when the target of the trigger has none
  readonly sessionId?: string | undefined // session of the run when the target of the trigger has none
  readonly firedAt?: EpochMs | undefined // when the run was started or refused
  readonly runId?: string | undefined
  readonly reason?: string | undefined
  readonly createdAt: EpochMs
}

export interface FireChange {
  readonly status: FireStatus
  readonly firedAt?: EpochMs | undefined
  readonly runId?: string | undefined
  readonly reason?: string | undefined
}

/** Port. Reads fires; every write goes through `UnitOfWork`. Must pass `fireStoreContract`. */
export interface FireStore {
  find(id: string): Promise<FireRecord | undefined>
  /** Lists the fires of a trigger, optionally with one status, ordered by creation (ties by id). */
  list(
    filter: { readonly triggerId: string; readonly status?: FireStatus | undefined },
    page: PageQuery,
  ): Promise<Page<FireRecord>>
  /** Lists the pending fire with the smallest id of each trigger, ordered by id. */
  firstPending(limit: number): Promise<readonly FireRecord[]>
}
