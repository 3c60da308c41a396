/** A step or tool of a run. */
export interface DurableCall {
  readonly runId: string
  readonly name: string
}

/** Knows the durable call whose code is at work, also in what that code leaves behind: callbacks, promises, timers. */
export interface Nesting {
  /** Calls `fn` as the code of this call. */
  within<T>(call: DurableCall, fn: () => T): T
  /** The innermost call whose code has led here; `undefined` outside of all. */
  current(): DurableCall | undefined
}

/** For where nobody can know. */
export const noNesting: Nesting = { within: (_, fn) => fn(), current: () => undefined }
