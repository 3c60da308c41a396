import type { EpochMs } from './clock.ts'
import type { JsonText } from './json-text.ts'
import type { Page, PageQuery } from './page.ts'

/**
 * `pending`: decided, its run waits to be started. `started`: its run exists. `completed`, `failed`: what the run came to,
 * or that it could not be started. `skipped`: not started by policy. `missed`: not caught up.
 */
export type FireStatus = 'pending' | 'started' | 'completed' | 'failed' | 'skipped' | 'missed'

/** One activation of a trigger. */
export interface FireRecord {
  readonly id: string
  readonly triggerId: string
  /** The occurrence of the schedule; of an event or a fire by hand when it came. */
  readonly scheduledAt: EpochMs
  readonly cause: 'schedule' | 'event' | 'manual'
  readonly status: FireStatus
  readonly input?: JsonText | undefined // for its run, when the trigger's target names none
  readonly firedAt?: EpochMs | undefined // when its run was started, or refused
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

/** Port. Reads of fires; every write goes through `UnitOfWork`. Passes `fireStoreContract`. */
export interface FireStore {
  find(id: string): Promise<FireRecord | undefined>
  /** Fires of one trigger, of one status when it is given, ordered by creation (ties by id). */
  list(
    filter: { readonly triggerId: string; readonly status?: FireStatus | undefined },
    page: PageQuery,
  ): Promise<Page<FireRecord>>
  /** Of each trigger that has a pending fire the one with the smallest id, ordered by id. */
  firstPending(limit: number): Promise<readonly FireRecord[]>
}
