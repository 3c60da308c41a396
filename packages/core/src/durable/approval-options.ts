/** What a run says when it asks for a decision. */
export interface ApprovalOptions {
  /** One line for whoever decides. */
  readonly title?: string
  /** What is to be decided on; JSON. */
  readonly payload?: unknown
  /** Expires after this long. Milliseconds; never, when missing. */
  readonly timeoutMs?: number
}

/** How a human decided. */
export interface ApprovalDecision {
  readonly granted: boolean
  readonly reason?: string
  readonly payload?: unknown
  readonly by?: string
}
