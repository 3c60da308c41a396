/** A step or tool call of a run. */
export interface DurableCall {
  readonly runId: string
  readonly name: string
}

/** Port. Tracks the run and the durable call whose code is executing, including in its callbacks, promises and timers. */
export interface Nesting {
  /** Calls `fn` as code of the run that has this context, outside every durable call. */
  inRun<T>(context: object, fn: () => T): T
  /** Calls `fn` as code of this durable call. */
  within<T>(call: DurableCall, fn: () => T): T
  /** Returns the innermost durable call that led to the current code; `undefined` outside every durable call. */
  current(): DurableCall | undefined
}

/** For runtimes that cannot track which code is executing. */
export const noNesting: Nesting = { inRun: (_, fn) => fn(), within: (_, fn) => fn(), current: () => undefined }

/** The run whose code is executing. */
export interface ExecutingRun {
  /** The run context, if the code belongs to a run. */
  readonly context?: object
  readonly call?: DurableCall
}

/**
 * Where an adapter of `Nesting` keeps its `AsyncLocalStorage<ExecutingRun>`, as a member of `globalThis`, so that a package
 * finds the run of its caller without an argument.
 */
export const EXECUTING_RUN: unique symbol = Symbol.for('perdure.executing-run') as never
