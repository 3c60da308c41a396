import type { JsonText } from '@perdure/ports'

/** The answer of a use case that sets the status itself. Has exactly one of `body` and `json`; a 204 has neither. */
export interface Reply {
  readonly status: number
  readonly body?: unknown
  readonly json?: JsonText
  /** Path of the created resource, without the origin. */
  readonly location?: string
  readonly contentType?: string
  /** True if this answer was stored by an earlier request with the same Idempotency-Key. */
  readonly replayed?: boolean
  readonly runId?: string
}
