import type { JsonText } from '@perdure/ports'

/** What a use case answers when it decides the status itself. Exactly one of `body` and `json`, or neither for 204. */
export interface Reply {
  readonly status: number
  readonly body?: unknown
  readonly json?: JsonText
  /** Path of what was created or started, without the origin. */
  readonly location?: string
  readonly contentType?: string
  /** The answer of an earlier request with the same Idempotency-Key. */
  readonly replayed?: boolean
  readonly runId?: string
}
