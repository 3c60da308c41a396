import type { ApprovalStatus, ResolvedApprovalStatus } from '@perdure/protocol'
import type { EpochMs } from './clock.ts'
import type { Page, PageQuery } from './page.ts'
import type { Visibility } from './row-access.ts'
import type { RunKind } from './run-store.ts'
import type { JsonText } from './values/json-text.ts'

/** A decision that a run has requested from a human. */
export interface ApprovalRecord {
  readonly id: string
  readonly runId: string
  readonly seq?: number | undefined // the call that waits for the approval; absent when the whole run was suspended
  readonly kind: RunKind
  readonly targetId: string
  readonly sessionId?: string | undefined
  readonly owner: string // owner of the run
  readonly name: string
  readonly title?: string | undefined
  readonly payload?: JsonText | undefined // data for the decision
  readonly toolCallId?: string | undefined
  readonly status: ApprovalStatus
  readonly createdAt: EpochMs
  readonly expiresAt?: EpochMs | undefined
  readonly resolvedAt?: EpochMs | undefined
  readonly by?: string | undefined // subject that decided
  readonly reason?: string | undefined
  readonly decision?: JsonText | undefined // payload sent with the decision
  readonly assignee?: string | undefined // who may decide: `user`, `staff` or a scope; whoever may resolve it when absent
  readonly argsSchema?: JsonText | undefined // JSON Schema of the arguments; present only if the decider may change them
  readonly args?: JsonText | undefined // arguments as asked, of a tool call whose payload does not have them, or that the decider may change
  readonly editedArgs?: JsonText | undefined // arguments with which the approval was granted instead
  readonly remindAt?: EpochMs | undefined // absent once the reminder was sent
  readonly escalateTo?: string | undefined // assignee from the reminder on
}

/** The resolution of an approval. */
export type ApprovalResolution = Pick<ApprovalRecord, 'by' | 'reason' | 'decision' | 'editedArgs'> & {
  readonly status: ResolvedApprovalStatus
  readonly resolvedAt: EpochMs
}

export interface ApprovalFilter {
  readonly status?: ApprovalStatus | undefined
  readonly runId?: string | undefined
  readonly toolCallId?: string | undefined
}

/** Port. Reads approvals; every write goes through `UnitOfWork`. Must pass `approvalStoreContract`. */
export interface ApprovalStore {
  find(id: string, visibility: Visibility): Promise<ApprovalRecord | undefined>
  /** Lists visible approvals that match every given filter, ordered by creation (ties by id). */
  list(filter: ApprovalFilter, page: PageQuery, visibility: Visibility): Promise<Page<ApprovalRecord>>
  /** Lists pending approvals that no call waits for (no `seq`) with `expiresAt <= now`, earliest first. */
  due(now: EpochMs, limit: number): Promise<readonly ApprovalRecord[]>
  /** Returns the earliest `expiresAt` of all pending approvals that no call waits for. */
  nextDueAt(): Promise<EpochMs | undefined>
  /** Lists pending approvals with `remindAt <= now`, earliest first. */
  toRemind(now: EpochMs, limit: number): Promise<readonly ApprovalRecord[]>
  /** Returns the earliest `remindAt` of all pending approvals. */
  nextReminderAt(): Promise<EpochMs | undefined>
}
