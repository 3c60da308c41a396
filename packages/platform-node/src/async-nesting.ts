import { AsyncLocalStorage } from 'node:async_hooks'
import type { DurableCall, Nesting } from '@perdure/ports'

/** By the context that Node.js carries along with asynchronous code. */
export function createAsyncNesting(): Nesting {
  const calls = new AsyncLocalStorage<DurableCall>()
  return { within: (call, fn) => calls.run(call, fn), current: () => calls.getStore() }
}
