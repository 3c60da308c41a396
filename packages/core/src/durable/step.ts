import type { Duration } from '@perdure/protocol'
import type { ModelAnswer, StallOptions } from './model-call.ts'

/** How often failed work is repeated, and after which delays. */
export interface RetryOptions {
  /** How often the work is repeated at most, not counting its first execution: from 0 to 999. */
  readonly max: number
  /** Before the first retry. Default `'200ms'`. */
  readonly delay?: Duration
  /** Each further delay is this many times as long. Default 2. */
  readonly factor?: number
  /** Default `'30s'`. */
  readonly maxDelay?: Duration
  /** `'full'` (default) shortens each delay to a part that differs from run to run; `'none'` keeps it. */
  readonly jitter?: 'full' | 'none'
}

/** Work that was executing when the process died executes again, fails, or a person is asked. */
export type StepOnCrash = 'retry' | 'fail' | 'ask'

/** Options for repeated executions after an error or a crash; steps and tools have the same. */
export interface RepeatOptions {
  /** How often the work is repeated after an error, not counting its first execution. Default 0. */
  readonly retries?: number | RetryOptions
  /**
   * How often the work may execute again after a crash, not counting its first execution; further crashes fail it.
   * Unlimited by default, as the `recoveries` of the run limit them too.
   */
  readonly recoveries?: number
  /** How to treat work that was executing when the process died. Default `'retry'`. */
  readonly onCrash?: StepOnCrash
}

export interface StepOptions extends RepeatOptions, StallOptions {
  /** Time limit for each execution. */
  readonly timeout?: Duration
}

/** The argument of a step function. */
export interface StepContext {
  /** The same for every execution of this step; pass it to external systems as the idempotency key. */
  readonly idempotencyKey: string
  /** Starts at 1; incremented with every execution in this process. */
  readonly attempt: number
  /** Aborts with the run and when this execution times out. */
  readonly signal: AbortSignal
  /** W3C trace context of this execution; pass it on to the systems that the step calls. */
  readonly traceparent: string | undefined
  /** Says that the work goes on, so that `stallTimeout` begins again. `ctx.stream` calls it for each part. */
  readonly progress: () => void
  /** Says what the model has answered, for traces and metrics. Only for a step with the option `model`. */
  readonly modelAnswered: (answer: ModelAnswer) => void
}

export type StepFn<T> = (step: StepContext) => T | PromiseLike<T>
