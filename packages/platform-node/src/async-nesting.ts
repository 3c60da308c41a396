import { AsyncLocalStorage } from 'node:async_hooks'
import { EXECUTING_RUN, type ExecutingRun, type Nesting } from '@perdure/ports'

/** Tracks the executing run and its current durable call across asynchronous code with `AsyncLocalStorage`. */
export function createAsyncNesting(): Nesting {
  const executing = sharedStorage()
  return {
    inRun: (context, fn) => executing.run({ context }, fn),
    within: (call, fn) => executing.run({ ...executing.getStore(), call }, fn),
    current: () => executing.getStore()?.call,
  }
}

/** One storage for all servers of the process, and for packages that are installed twice. */
function sharedStorage(): AsyncLocalStorage<ExecutingRun> {
  const holder = globalThis as { [EXECUTING_RUN]?: AsyncLocalStorage<ExecutingRun> }
  holder[EXECUTING_RUN] ??= new AsyncLocalStorage()
  return holder[EXECUTING_RUN]
}
