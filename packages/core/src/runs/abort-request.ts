import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import type { RunToChange } from './find-run-to-change.ts'
import type { Via } from './run-events.ts'

export interface AbortRunRequest extends RunToChange {
  readonly reason?: string | undefined
  readonly key?: KeyedRequest | undefined
  /** The protocol through which the request came. */
  readonly via?: Via | undefined
}

/**
 * Ends a run now. Once this resolves, the run is `aborted` and later output of its code is dropped. Aborting an aborted
 * run returns the same answer.
 *
 * @throws PerdureError `run-not-found`; `scope-denied`; `run-not-active` when it has completed or failed
 */
export type AbortRun = (request: AbortRunRequest) => Promise<Reply>
