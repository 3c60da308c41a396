import { AsyncLocalStorage } from 'node:async_hooks'
import type { DurableCall, Nesting } from '@perdure/ports'

/** Tracks the current durable call across asynchronous code with `AsyncLocalStorage`. */
export function createAsyncNesting(): Nesting {
  const calls = new AsyncLocalStorage<DurableCall>()
  return { within: (call, fn) => calls.run(call, fn), current: () => calls.getStore() }
}
