import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import type { RunToChange } from './find-run-to-change.ts'

export interface AbortRunRequest extends RunToChange {
  readonly reason?: string | undefined
  readonly key?: KeyedRequest | undefined
}

/**
 * Ends a run now: it is `aborted` once this resolves, and whatever its code still does is dropped. An aborted run
 * answers the same again.
 *
 * @throws AppError `run-not-found`; `scope-denied`; `run-not-active` when it has completed or failed
 */
export type AbortRun = (request: AbortRunRequest) => Promise<Reply>
