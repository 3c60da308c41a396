/** Options of a request for approval. */
export interface ApprovalOptions {
  /** One line that tells the approver what to decide. */
  readonly title?: string
  /** What the approver decides on; JSON. */
  readonly payload?: unknown
  /** Time until the approval expires. Milliseconds; by default the approval never expires. */
  readonly timeoutMs?: number
}

/** The decision on an approval. */
export interface ApprovalDecision {
  readonly granted: boolean
  readonly reason?: string
  readonly payload?: unknown
  readonly by?: string
}
