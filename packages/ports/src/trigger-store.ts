import type { EpochMs } from './clock.ts'
import type { FireStatus } from './fire-store.ts'
import type { JsonText } from './json-text.ts'
import type { Page, PageQuery } from './page.ts'
import type { RunKind } from './run-store.ts'

export type TriggerKind = 'cron' | 'interval' | 'idle' | 'event'
export type CatchUp = 'none' | 'latest' | 'all'
export type Overlap = 'skip' | 'queue' | 'allow'

/** What a fire starts. */
export interface TriggerTarget {
  readonly kind: RunKind
  readonly id: string // the agent's or workflow's id
  readonly input?: JsonText | undefined
  readonly sessionId?: string | undefined
}

/** A rule by which runs start, and how far it has come. */
export interface TriggerRecord {
  readonly id: string
  readonly kind: TriggerKind
  readonly cron?: string | undefined
  readonly timezone?: string | undefined
  readonly intervalMs?: number | undefined
  readonly idleMs?: number | undefined
  readonly event?: string | undefined
  readonly target: TriggerTarget
  readonly owner: string // of the runs it starts
  readonly enabled: boolean
  readonly catchUp: CatchUp
  readonly maxCatchUp: number
  readonly catchUpWindowMs: number
  readonly overlap: Overlap
  readonly jitterMs: number
  readonly expiresAt?: EpochMs | undefined
  readonly source: 'code' | 'api'
  readonly declared?: JsonText | undefined // of a code trigger: the definition as the code last gave it
  readonly orphanedAt?: EpochMs | undefined // since when the code does not declare it any more
  readonly failure?: string | undefined // why its occurrences cannot be computed
  readonly anchorAt: EpochMs // when its counting began: created, enabled or scheduled anew
  readonly decidedThrough?: EpochMs | undefined // no occurrence up to here is decided again
  readonly nextAt?: EpochMs | undefined // the first occurrence that is not decided; missing while it is not scheduled
  readonly dueAt?: EpochMs | undefined // when that occurrence is due, jitter included
  readonly lastFireId?: string | undefined
  readonly lastFireAt?: EpochMs | undefined // when it last started a run
  readonly lastStatus?: FireStatus | undefined // of its newest fire
  readonly fireCount: number // runs it has started
  readonly missed: number
  readonly version: number // from 1, one more with every change
  readonly createdAt: EpochMs
}

export interface TriggerOverview {
  readonly active: number // enabled and not orphaned
  readonly disabled: number // all others
  readonly nextDueAt?: EpochMs | undefined
}

/** What was asked of the server lately: runs that neither a trigger nor another run started. */
export interface Activity {
  readonly isBusy: boolean // one of them is queued or running
  readonly endedAt?: EpochMs | undefined // when the last of them ended
}

/** Port. Reads of triggers; every write goes through `UnitOfWork`. Passes `triggerStoreContract`. */
export interface TriggerStore {
  find(id: string): Promise<TriggerRecord | undefined>
  /** All triggers, ordered by creation (ties by id). */
  list(page: PageQuery): Promise<Page<TriggerRecord>>
  /** Triggers with `dueAt <= now`, earliest first. */
  due(now: EpochMs, limit: number): Promise<readonly TriggerRecord[]>
  /** The triggers that are enabled, not orphaned and fire at this event, ordered by id. */
  ofEvent(event: string): Promise<readonly TriggerRecord[]>
  overview(): Promise<TriggerOverview>
  /** Of one session, or of the whole server when it is missing. */
  lastActivity(sessionId?: string): Promise<Activity>
}
