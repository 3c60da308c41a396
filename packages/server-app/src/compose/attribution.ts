import { AsyncLocalStorage } from 'node:async_hooks'
import { type AgentRegistration, isGenerator, mapCode, type RunCode, type WorkflowRegistration } from '@perdure/core'

/**
 * Tracks which run the executing code belongs to, even in timers, callbacks and promises that the run does not await.
 */
export interface Attribution {
  /** Returns the registration with its code tracked. Returns an invalid registration unchanged. */
  agent(registration: AgentRegistration): AgentRegistration
  workflow(registration: WorkflowRegistration): WorkflowRegistration
  /** The run whose code led to this call. */
  runId(): string | undefined
  /** Calls the listener before the code of a run is called. Replaces an earlier listener. */
  onEnter(listener: (runId: string) => void): void
  /** Calls `fn` as work of the server, even if the code of a run led to the call. */
  outside<T>(fn: () => T): T
}

export function createAttribution(): Attribution {
  const runs = new AsyncLocalStorage<string | undefined>()
  let entered: (runId: string) => void = () => undefined

  const tracked =
    (code: RunCode): RunCode =>
    (input, context) => {
      entered(context.runId)
      return runs.run(context.runId, () => {
        const result = code(input, context)
        return isGenerator(result) ? trackedGenerator(result, AsyncLocalStorage.snapshot()) : result
      })
    }

  return {
    agent: (registration) => mapCode('agent', registration, tracked),
    workflow: (registration) => mapCode('workflow', registration, tracked),
    runId: () => runs.getStore(),
    onEnter(listener) {
      entered = listener
    },
    outside: (fn) => (runs.getStore() === undefined ? fn() : runs.run(undefined, fn)),
  }
}

/** The body of a generator runs in the context of the code that advances it, not of the code that created it. */
function trackedGenerator<T extends AsyncGenerator>(generator: T, within: <R>(fn: () => R) => R): T {
  const advance = {
    next: (...value: Parameters<T['next']>) => within(() => generator.next(...value)),
    return: (value: unknown) => within(() => generator.return(value)),
    throw: (error: unknown) => within(() => generator.throw(error)),
  }
  return Object.assign(Object.create(generator), advance)
}
