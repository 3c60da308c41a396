/** How often a step is tried in one process, and how long it pauses between tries. */
export interface StepRetry {
  readonly maxAttempts?: number // 1 when missing
  readonly initialDelayMs?: number // 200 when missing
  readonly factor?: number // 2 when missing
  readonly maxDelayMs?: number // 30,000 when missing
}

export interface StepOptions {
  readonly retry?: StepRetry
  /** Time limit for each try. Milliseconds. */
  readonly timeoutMs?: number
  /** How to treat a step that was executing when the process died: retry it (default), fail it, or ask a person. */
  readonly onCrash?: 'retry' | 'fail' | 'ask'
}

/** The argument of a step function. */
export interface StepTry {
  /** The same for every execution of this step; pass it to external systems as the idempotency key. */
  readonly effectId: string
  /** Starts at 1; incremented with every try in this process. */
  readonly attempt: number
  /** Aborts with the run and when this try times out. */
  readonly signal: AbortSignal
  /** W3C trace context of this try; pass it on to the systems that the step calls. */
  readonly traceparent: string | undefined
}

export type StepFn<T> = (step: StepTry) => T | PromiseLike<T>
