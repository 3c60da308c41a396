import type { RunKind, RunRecord, Visibility, Write } from '@perdure/ports'
import type { Principal } from '../auth/principal.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import type { RunSeed } from './forks/run-seed.ts'
import type { RunRequestBody } from './new-run.ts'

/** The trigger that starts the run; a run that a client starts has no origin. */
export interface RunOrigin {
  readonly triggerId: string
  /**
   * Writes to add to the commit that starts the run; called again after a write conflict.
   * @throws to refuse the start
   */
  writes(run: RunRecord): Promise<readonly Write[]>
  /** Returns the reply to the start request; when missing, the reply is the usual one for an accepted run. */
  reply?(run: RunRecord): Reply
}

export interface StartRunRequest {
  readonly target: { readonly kind: RunKind; readonly id: string }
  readonly body: RunRequestBody
  readonly principal: Principal
  /** Which threads the caller may continue; all of them when missing. */
  readonly visibility?: Visibility | undefined
  readonly key?: KeyedRequest | undefined
  /**
   * Lets the run create the session that it names, with this metadata, also without the scope `sessions:write`. An
   * existing session must belong to the principal.
   */
  readonly newSession?: { readonly metadata: Readonly<Record<string, string>> } | undefined
  readonly origin?: RunOrigin
  /** Reads what the run takes from another run; called again after a write conflict. Such a run starts as queued. */
  readonly seed?: (() => Promise<RunSeed>) | undefined
  readonly traceparent?: string | undefined
  /** `outcome` answers 200 once the run has ended or is suspended; `accepted` answers 202 once the run is stored. */
  readonly answer: 'outcome' | 'accepted'
  /**
   * With `outcome`: answers 202 when the run has no outcome after this time. Milliseconds. If set, a run that waits on
   * a timer or a child has no outcome yet; if missing, such a wait counts as an outcome.
   */
  readonly waitMs?: number | undefined
}
