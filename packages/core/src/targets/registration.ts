import type { Duration, ON_BUSY } from '@perdure/protocol'
import type { RetryOptions } from '../durable/step.ts'
import type { BudgetOptions } from './budget-options.ts'
import type { ChatInput } from './chat-input.ts'
import type { Concurrency, Debounce, RateLimit } from './flow-control.ts'
import type { ScoringOptions } from './scoring-options.ts'
import type { StandardSchemaV1 } from './standard-schema.ts'

export type { BudgetOptions } from './budget-options.ts'
export type OnBusy = (typeof ON_BUSY)[number]
/** What a message does while an earlier turn of its session waits, for a decision or for something else. */
export const ON_BUSY_WAITING = ['start', 'queue', 'deny'] as const
export type OnBusyWaiting = (typeof ON_BUSY_WAITING)[number]
export type RunOnCrash = 'retry' | 'fail'

/** An error of a run, as the function `errors` of the option `protocols` gets it. */
export interface ProtocolError {
  /** The code of the error, or the kind of a failed tool call. */
  readonly code: string
  readonly message: string
  readonly runId: string
  /** The tool that failed, if its name is known. Missing for an error of the run. */
  readonly toolName?: string
}

/** Which clients of other protocols can use the agent or workflow, and what they see of it. */
export interface ProtocolOptions {
  /** `false` hides it from clients of the AI SDK. */
  readonly aiSdk?: boolean
  /** `false` hides it from clients of AG-UI. */
  readonly agUi?: boolean
  /** `false` hides it from OpenAI clients. */
  readonly openai?: boolean
  /** `false` hides it from MCP clients. */
  readonly mcp?: boolean
  /**
   * What clients of these protocols see of an exception. By default, it is `An error occurred (run <id>)`, because a message can
   * contain a secret. `'message'` shows the messages. A function returns the text; the same error must always get the same
   * text. A caller that may read the run sees its errors in any case, as in the console and with `GET /runs/:runId`.
   */
  readonly errors?: 'message' | ((error: ProtocolError) => string)
}

/**
 * Options that agents and workflows share. Defaults are in the reference documentation. `Input` is what the code gets
 * and `Output` what it returns; `Sent` is what a client sends and `Result` what it receives.
 */
export interface RegistrationOptions<
  Input = unknown,
  Output = unknown,
  Id extends string = string,
  Sent = unknown,
  Result = unknown,
> {
  /** 1 to 128 letters, digits, `_` or `-`, starting with a letter or digit. */
  readonly id: Id
  /**
   * Names this code, in the form of an id. Several versions of one id may be registered: the first is the default for
   * new runs, and each run keeps the version with which it was started. No version by default.
   */
  readonly version?: string
  /** Shown to people by `GET /agents` and `GET /workflows`. Where a client must show one, the default is the id. */
  readonly description?: string
  /**
   * Schema of the input, checked before a run is created; a mismatch is rejected as `invalid-input`. The code gets the
   * value and the type that the schema returns.
   */
  readonly input?: StandardSchemaV1<Sent, Input>
  /**
   * Schema of the result, checked before a run completes. The value that the schema returns is the result of the run; a
   * mismatch fails the run for good as `invalid-output`, and the rejected value is not stored.
   */
  readonly output?: StandardSchemaV1<Output, Result>
  /**
   * `'parallel'` (default), `'single'` (one run at a time), `'session'` (one run at a time per session), or a limit for
   * the runs with the same key.
   */
  readonly concurrency?: Concurrency<Input>
  /**
   * When `concurrency` does not allow another run yet: `'reject'` (default) rejects the new run, `'queue'` queues it, `'interrupt'` aborts the run
   * ahead of the new run. `'steer'`, for agents with the concurrency `'session'`, queues it too, but the run ahead may take its message with
   * `ctx.session.takeMessages`; chat agents do so before each call of a model. With a list, a request chooses one of its values with `onBusy`;
   * the first is the default.
   */
  readonly onBusy?: OnBusy | readonly OnBusy[]
  /**
   * For agents with the concurrency `'session'`: what a new run does while an earlier run of its session is suspended. `'start'` (default)
   * starts it at once; `'queue'` lets it wait for the end of the earlier run; `'deny'`, the default of chat agents, also denies the open
   * approvals of the earlier run with the reason `superseded`, so that the earlier run can end.
   */
  readonly onBusyWaiting?: OnBusyWaiting
  /** Limits how many runs start in a period. Further runs are queued; none is rejected. */
  readonly rateLimit?: RateLimit<Input>
  /**
   * Combines requests with the same key, of the same owner, user and session, into one run that gets the newest input.
   * Its other members are those of the first request. Child runs, forks, retries, fires of triggers and requests that
   * name a thread are not combined.
   */
  readonly debounce?: Debounce<Input>
  /**
   * How to treat a running run after a crash. `'retry'`, the default for a registration with `run`, executes the code again:
   * recorded calls are not repeated, but effects outside of steps may happen twice. `'fail'`, the default for a
   * registration with `agent`, fails the run as `interrupted`, so its effects happen at most once.
   */
  readonly onCrash?: RunOnCrash
  /**
   * For agents: `'none'` promises that the code has no effects outside of durable calls. With it, or with `onCrash: 'retry'`, the code of a
   * run whose caller waits begins before the run is stored. A run that ends at once, without a durable call and without an event, is
   * stored with its result. If the server crashes before, the run never existed, and a request with the same key starts it again.
   */
  readonly effects?: 'none'
  /** How often the run may execute again after a crash, not counting its first execution. Default 2. */
  readonly recoveries?: number
  /**
   * How often the run executes again, with its recorded calls, after its code has thrown, not counting the first execution. An
   * aborted run, a used-up budget, a failed validation and a `NonRetryableError` are final. Default 0.
   */
  readonly retries?: number | RetryOptions
  /** Time limit for one execution; time spent suspended does not count. Unlimited by default. */
  readonly timeout?: Duration
  /**
   * How long a call of a model may send nothing before it fails. It then counts as an error that can be retried. Default `'10m'`;
   * a step can set its own.
   */
  readonly stallTimeout?: Duration
  /**
   * Upper limit for each run; a request can only lower it. The usage of child runs counts too. The usage of a child run
   * also counts against the budgets of its ancestors.
   */
  readonly budget?: BudgetOptions
  /** Labels for people and tools; the server does not interpret them. */
  readonly tags?: readonly string[]
  /** What clients of other protocols see; `false` hides it from all of them. By default, all of them can use it. */
  readonly protocols?: false | ProtocolOptions
  /**
   * Makes the input from what a client of these protocols sends as a chat. By default, it is the first form that the input schema
   * accepts: the chat, its text, or an object with the text.
   */
  readonly fromChat?: (chat: ChatInput) => unknown
  /**
   * Scorers of `perdure/evals` that judge a sample of the runs after their end. Each judgement is a run of the agent
   * `<id>-scorers` with a budget of its own; its scores are events `run.scored`. Aborted runs are not judged. If there are several
   * versions, the scorers of the default version judge all of them.
   */
  readonly scorers?: ScoringOptions
}
