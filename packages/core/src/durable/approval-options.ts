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
  /** Time until the approval expires; by default it never expires. */
  readonly timeout?: Duration
}

/** The decision on an approval. */
export interface ApprovalDecision {
  readonly approved: boolean
  readonly reason?: string
  readonly payload?: unknown
  readonly by?: string
}
