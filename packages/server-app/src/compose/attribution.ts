import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type AgentEvent,
  type AgentRegistration,
  isGenerator,
  type RunContext,
  type WorkflowRegistration,
} from '@perdure/core'

/**
 * Knows which run's code is at work, also in what that code leaves behind: timers, callbacks, promises that nobody
 * awaits.
 */
export interface Attribution {
  /** The same registration; its code is known from now on. What is no agent stays as it is. */
  agent(registration: AgentRegistration): AgentRegistration
  workflow(registration: WorkflowRegistration): WorkflowRegistration
  /** The run whose code led to the caller. */
  runId(): string | undefined
  /** Work of the server itself, whoever's code has led to it. */
  outside<T>(fn: () => T): T
}

type Result = Promise<unknown> | AsyncGenerator<AgentEvent, unknown, void>
type Code = (input: unknown, context: RunContext) => Result

export function createAttribution(): Attribution {
  const runs = new AsyncLocalStorage<string | undefined>()

  const traced =
    (code: Code): Code =>
    (input, context) =>
      runs.run(context.runId, () => {
        const result = code(input, context)
        return isGenerator(result) ? tracedGenerator(result, AsyncLocalStorage.snapshot()) : result
      })

  return {
    agent(registration) {
      const { agent } = registration ?? {}
      if (typeof agent?.run !== 'function') return registration
      return { ...registration, agent: { id: agent.id, run: traced((...call) => agent.run(...call)) } }
    },
    workflow(registration) {
      const { workflow } = registration ?? {}
      if (typeof workflow?.execute !== 'function') return registration
      return { ...registration, workflow: { id: workflow.id, execute: traced((...call) => workflow.execute(...call)) } }
    },
    runId: () => runs.getStore(),
    outside: (fn) => (runs.getStore() === undefined ? fn() : runs.run(undefined, fn)),
  }
}

/** The code of a generator runs where it is advanced, not where it was called. */
function tracedGenerator<T extends AsyncGenerator>(generator: T, within: <R>(fn: () => R) => R): T {
  const advance = {
    next: (...value: Parameters<T['next']>) => within(() => generator.next(...value)),
    return: (value: unknown) => within(() => generator.return(value)),
    throw: (error: unknown) => within(() => generator.throw(error)),
  }
  return Object.assign(Object.create(generator), advance)
}
