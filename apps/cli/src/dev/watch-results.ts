import {
  type AgentRegistration,
  isGenerator,
  isStreamSource,
  mapCode,
  ownResultOf,
  type RunCode,
  type WorkflowRegistration,
} from '@perdure/core'
import type { LogFields } from '@perdure/ports'
import { lossyValues } from './lossy-values.ts'

export type Warn = (message: string, fields: LogFields) => void

/** Warns once per run when JSON does not keep all values of its result. Returns an invalid registration unchanged. */
export const watchAgentResults = (registration: AgentRegistration, warn: Warn): AgentRegistration =>
  mapCode('agent', registration, watch(warn, { agentId: registration?.id }))

/** Like `watchAgentResults`. */
export const watchWorkflowResults = (registration: WorkflowRegistration, warn: Warn): WorkflowRegistration =>
  mapCode('workflow', registration, watch(warn, { workflowId: registration?.id }))

const watch =
  (warn: Warn, target: LogFields) =>
  (code: RunCode): RunCode =>
  (input, context) =>
    watched(code(input, context), (result) => check(result, warn, { ...target, runId: context.runId }))

type Result = ReturnType<RunCode>

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
  // The result of such a run is the text or the object of the stream.
  if (isStreamSource(result) || ownResultOf(result) !== undefined) return
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
