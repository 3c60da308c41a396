/** How often a step is tried in one process, and how long it pauses in between. */
export interface StepRetry {
  readonly maxAttempts?: number // 1 when missing
  readonly initialDelayMs?: number // 200 when missing
  readonly factor?: number // 2 when missing
  readonly maxDelayMs?: number // 30,000 when missing
}

export interface StepOptions {
  readonly retry?: StepRetry
  /** Each try is given up after this long. Milliseconds. */
  readonly timeoutMs?: number
  /** What becomes of a step that was executing when the process died; `'retry'` when missing. */
  readonly onCrash?: 'retry' | 'fail' | 'ask'
}

/** What the code of a step gets. */
export interface StepTry {
  /** The same for every execution of this step: give it to the outside as its idempotency key. */
  readonly effectId: string
  /** From 1; grows with every try in this process. */
  readonly attempt: number
  /** Aborts with the run, and when this try has timed out. */
  readonly signal: AbortSignal
  /** The place of this try in its trace: hand it on to what is called. */
  readonly traceparent: string | undefined
}

export type StepFn<T> = (step: StepTry) => T | PromiseLike<T>
