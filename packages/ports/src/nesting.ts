/** A step or tool call of a run. */
export interface DurableCall {
  readonly runId: string
  readonly name: string
}

/** Port. Tracks the durable call whose code is executing, including in its callbacks, promises and timers. */
export interface Nesting {
  /** Calls `fn` as code of this durable call. */
  within<T>(call: DurableCall, fn: () => T): T
  /** Returns the innermost durable call that led to the current code; `undefined` outside every durable call. */
  current(): DurableCall | undefined
}

/** For runtimes that cannot track which durable call is executing. */
export const noNesting: Nesting = { within: (_, fn) => fn(), current: () => undefined }
