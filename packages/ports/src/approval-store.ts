import type { EpochMs } from './clock.ts'
import type { JsonText } from './json-text.ts'
import type { Page, PageQuery } from './page.ts'
import type { Visibility } from './row-access.ts'
import type { RunKind } from './run-store.ts'

export type ApprovalStatus = 'pending' | 'granted' | 'denied' | 'expired'

/** A decision that a run asked of a human. */
export interface ApprovalRecord {
  readonly id: string
  readonly runId: string
  readonly seq?: number | undefined // the durable call that waits for it; absent when the run was suspended as a whole
  readonly kind: RunKind
  readonly targetId: string
  readonly sessionId?: string | undefined
  readonly owner: string // of the run
  readonly name: string
  readonly title?: string | undefined
  readonly payload?: JsonText | undefined // what is to be decided on
  readonly toolCallId?: string | undefined
  readonly status: ApprovalStatus
  readonly createdAt: EpochMs
  readonly expiresAt?: EpochMs | undefined
  readonly resolvedAt?: EpochMs | undefined
  readonly by?: string | undefined // subject of who decided
  readonly reason?: string | undefined
  readonly decision?: JsonText | undefined // what the decider sent along
}

/** How an approval came out. */
export type ApprovalResolution = Pick<ApprovalRecord, 'by' | 'reason' | 'decision'> & {
  readonly status: Exclude<ApprovalStatus, 'pending'>
  readonly resolvedAt: EpochMs
}

export interface ApprovalFilter {
  readonly status?: ApprovalStatus | undefined
  readonly runId?: string | undefined
  readonly toolCallId?: string | undefined
}

/** Port. Reads of approvals; written through `UnitOfWork`. Passes `approvalStoreContract`. */
export interface ApprovalStore {
  find(id: string, visibility: Visibility): Promise<ApprovalRecord | undefined>
  /** Approvals that match every given filter and are visible, ordered by creation (ties by id). */
  list(filter: ApprovalFilter, page: PageQuery, visibility: Visibility): Promise<Page<ApprovalRecord>>
  /** Pending approvals without a call that waits for them (no `seq`) with `expiresAt <= now`, earliest first. */
  due(now: EpochMs, limit: number): Promise<readonly ApprovalRecord[]>
  /** The earliest `expiresAt` of all pending approvals without a call. */
  nextDueAt(): Promise<EpochMs | undefined>
}
