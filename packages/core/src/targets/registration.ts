import type { RunBudget } from '@perdure/ports'
import type { StandardSchemaV1 } from '@standard-schema/spec'

export type Concurrency = 'parallel' | 'single' | 'session'
export type OnBusy = 'reject' | 'queue' | 'interrupt'
export type Recovery = 'fail' | 'resume'

/** Options that agents and workflows share. Defaults are in the reference documentation. */
export interface RegistrationOptions<Input = unknown> {
  /** 1 to 128 letters, digits, `_` or `-`, starting with a letter or digit. */
  readonly id: string
  /** Shown to people by `GET /agents` and `GET /workflows`. */
  readonly description: string
  /**
   * Schema of the input, checked before a run is created; a mismatch is rejected as `invalid-input`. The code gets the
   * value and the type that the schema returns.
   */
  readonly input?: StandardSchemaV1<unknown, Input>
  /** `'parallel'` (default), `'single'` (one run at a time) or `'session'` (one run at a time per session). */
  readonly concurrency?: Concurrency
  /**
   * When `concurrency` does not allow another run yet: `'reject'` (default) rejects the new run, `'queue'` queues it, `'interrupt'` aborts the run
   * ahead of the new run.
   */
  readonly onBusy?: OnBusy
  /**
   * How to treat a running run after a crash: fail it (`'fail'`, default for agents) or start it again (`'resume'`,
   * default for workflows).
   */
  readonly recovery?: Recovery
  /** How often a resumable run may start, including the first time. Default 3. */
  readonly maxAttempts?: number
  /** Time limit for one execution; time spent suspended does not count. Milliseconds, unlimited by default. */
  readonly timeoutMs?: number
  /**
   * Upper limit for runs started by a request or trigger; a request can only lower it. The usage of child runs counts
   * too. For a child run, only the budget of the topmost run applies.
   */
  readonly budget?: RunBudget
  /** Labels for people and tools; the server does not interpret them. */
  readonly tags?: readonly string[]
}
