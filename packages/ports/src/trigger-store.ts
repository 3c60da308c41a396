import type { CatchUp, FireStatus, Overlap, TriggerKind } from '@perdure/protocol'
import type { EpochMs } from './clock.ts'
import type { CronRule } from './cron-schedule.ts'
import type { Page, PageQuery } from './page.ts'
import type { RunKind } from './run-store.ts'
import type { JsonText } from './values/json-text.ts'

/** The agent or workflow that a fire starts. */
export interface TriggerTarget {
  readonly kind: RunKind
  readonly id: string // the agent's or workflow's id
  readonly input?: JsonText | undefined
  readonly sessionId?: string | undefined
}

/** When a trigger fires: its kind, with the members that only this kind has. */
export type TriggerRule =
  | ({ readonly kind: 'cron' } & CronRule)
  | { readonly kind: 'interval'; readonly intervalMs: number }
  | { readonly kind: 'idle'; readonly idleMs: number }
  | { readonly kind: 'event'; readonly event: string }
  | { readonly kind: 'webhook'; readonly hook: string } // id of the hook whose deliveries it fires for

/** The members that a trigger of every kind has. */
export interface TriggerMembers {
  readonly id: string
  readonly target: TriggerTarget
  readonly owner: string // owner of the runs it starts
  readonly enabled: boolean
  readonly catchUp: CatchUp
  readonly maxCatchUp: number
  readonly catchUpWindowMs: number
  readonly overlap: Overlap
  readonly jitterMs: number
  readonly expiresAt?: EpochMs | undefined
  readonly source: 'code' | 'api'
  readonly declared?: JsonText | undefined // for a code trigger: the definition that the code last declared
  readonly undeclaredAt?: EpochMs | undefined // since when no living process declares it; it still fires
  readonly superseded?: readonly string[] | undefined // fingerprints of its earlier declarations, newest last
  readonly orphanedAt?: EpochMs | undefined // since when it no longer fires, because the code does not declare it
  readonly failure?: string | undefined // why its occurrences cannot be computed
  readonly anchorAt: EpochMs // origin of its intervals: when it was created, enabled or rescheduled
  readonly decidedThrough?: EpochMs | undefined // occurrences up to here are decided and not revisited
  readonly nextAt?: EpochMs | undefined // the first undecided occurrence; missing while unscheduled
  readonly dueAt?: EpochMs | undefined // when that occurrence is due, jitter included
  readonly lastFireId?: string | undefined
  readonly lastFireAt?: EpochMs | undefined // when it last started a run
  readonly lastStatus?: FireStatus | undefined // status of its newest fire
  readonly fireCount: number // number of runs it has started
  readonly missed: number
  readonly version: number // from 1, incremented by every change
  readonly createdAt: EpochMs
}

/** A rule that starts runs, with its progress. */
export type TriggerRecord = TriggerMembers & TriggerRule

/** A trigger of one kind. */
export type TriggerOf<Kind extends TriggerKind> = Extract<TriggerRecord, { readonly kind: Kind }>

export interface TriggerOverview {
  readonly active: number // enabled and not orphaned
  readonly disabled: number // all others
  readonly nextDueAt?: EpochMs | undefined
}

/** Recent activity caused by clients: runs that neither a trigger nor another run started. */
export interface Activity {
  readonly isBusy: boolean // whether one of these runs is queued or running
  readonly endedAt?: EpochMs | undefined // when the last of these runs ended
}

/** Port. Reads triggers; every write goes through `UnitOfWork`. Must pass `triggerStoreContract`. */
export interface TriggerStore {
  find(id: string): Promise<TriggerRecord | undefined>
  /** Lists all triggers, ordered by creation (ties by id). */
  list(page: PageQuery): Promise<Page<TriggerRecord>>
  /** Lists triggers with `dueAt <= now`, earliest first. */
  due(now: EpochMs, limit: number): Promise<readonly TriggerRecord[]>
  /**
   * Lists the enabled, non-orphaned triggers that this event fires, ordered by id, from the first id behind `after`. The
   * list ends like a page, after `limit` triggers or at `MAX_PAGE_BYTES`. It is empty only when no more triggers follow.
   */
  listByEvent(
    event: string,
    part: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<readonly TriggerRecord[]>
  /** Like `listByEvent`, for the triggers that each delivery of this hook fires. */
  listByHook(
    hook: string,
    part: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<readonly TriggerRecord[]>
  overview(): Promise<TriggerOverview>
  /** Returns the activity of one session or, without `sessionId`, of the whole server. */
  lastActivity(sessionId?: string): Promise<Activity>
}
