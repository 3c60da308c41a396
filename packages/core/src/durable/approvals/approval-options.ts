import type { Duration } from '@perdure/protocol'

/** Options of a request for approval. */
export interface ApprovalOptions {
  /** One line that tells the approver what to decide. */
  readonly title?: string
  /**
   * What the approver decides on; JSON. The decision counts only for this payload: with another one, such as one with the
   * current time, the run asks again.
   */
  readonly payload?: unknown
  /**
   * Narrows the callers that may decide, among those that may resolve approvals: `'user'`, the owner of the run; `'staff'`, a token whose
   * `approvals:resolve` is not limited to own rows; or a scope that the token must hold, such as
   * `'workflows:resume:payments'`. `admin:*` always may.
   */
  readonly assignee?: string
  /**
   * Lets the decider change the arguments of the tool call, or the payload of `ctx.approval`, before it approves: any JSON
   * with `true`, or what matches the JSON Schema.
   */
  readonly editable?: boolean | { readonly schema: Readonly<Record<string, unknown>> }
  /**
   * Time until the event `approval.reminder` reminds of an open approval, once. Outgoing webhooks can subscribe to it.
   */
  readonly remindAfter?: Duration
  /** The `assignee` from the reminder on. Needs `remindAfter`. */
  readonly escalateTo?: string
  /** Time until the approval expires; by default it never expires. */
  readonly timeout?: Duration
}

/** The decision on an approval. */
export interface ApprovalDecision {
  readonly approved: boolean
  readonly reason?: string
  readonly payload?: unknown
  readonly by?: string
  /** The arguments that the decider has sent in place of those that were asked for; missing if it changed none. */
  readonly args?: unknown
}
