import { type AgentRegistration, isGenerator, type WorkflowRegistration } from '@perdure/core'
import type { LogFields } from '@perdure/ports'
import { isPlainObject } from '@perdure/protocol'
import { lossyValues } from './lossy-values.ts'

export type Warn = (message: string, fields: LogFields) => void

/** Warns once per run when JSON does not keep all values of its result. Returns an invalid registration unchanged. */
export function watchAgentResults(registration: AgentRegistration, warn: Warn): AgentRegistration {
  const agent = isPlainObject(registration) ? registration.agent : undefined
  if (typeof agent?.run !== 'function') return registration
  return {
    ...registration,
    agent: {
      ...idOf(agent),
      run: (input, context) => {
        const fields = { agentId: registration.id, runId: context.runId }
        return watched(agent.run(input, context), (result) => check(result, warn, fields))
      },
    },
  }
}

/** Like `watchAgentResults`. */
export function watchWorkflowResults(registration: WorkflowRegistration, warn: Warn): WorkflowRegistration {
  const workflow = isPlainObject(registration) ? registration.workflow : undefined
  if (typeof workflow?.execute !== 'function') return registration
  return {
    ...registration,
    workflow: {
      ...idOf(workflow),
      execute: (input, context) => {
        const fields = { workflowId: registration.id, runId: context.runId }
        return watched(workflow.execute(input, context), (result) => check(result, warn, fields))
      },
    },
  }
}

const idOf = ({ id }: { readonly id?: string }) => (id === undefined ? {} : { id })

type Result = ReturnType<AgentRegistration['agent']['run']>

function watched(result: Result, onResult: (result: unknown) => void): Result {
  return isGenerator(result) ? watchedGenerator(result, onResult) : watchedPromise(result, onResult)
}

async function watchedPromise(promise: unknown, onResult: (result: unknown) => void): Promise<unknown> {
  const result = await promise
  onResult(result)
  return result
}

async function* watchedGenerator<Yielded>(
  generator: AsyncGenerator<Yielded, unknown, void>,
  onResult: (result: unknown) => void,
): AsyncGenerator<Yielded, unknown, void> {
  const result = yield* generator
  onResult(result)
  return result
}

function check(result: unknown, warn: Warn, fields: LogFields): void {
  const lost = safely(() => lossyValues(result))
  if (lost.length > 0) warn(`the result is stored as JSON, which does not keep: ${lost.join(', ')}`, fields)
}

/** A `toJSON` or getter of the result may throw. The server reports that, when it stores the result. */
function safely(find: () => readonly string[]): readonly string[] {
  try {
    return find()
  } catch {
    return []
  }
}
