import { createInMemoryStorage } from '@perdure/in-memory'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { createTestEngine, type EngineOptions, untilIdle, workflowOf } from '../engine/test-engine.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'
import type { WorkflowRegistration } from '../targets/workflow.ts'

export type Code = (context: RunContext) => Promise<unknown>

/** Creates engines one after another on the same storage, as restarts do; each engine may register different code. */
export function processes(options: EngineOptions = {}) {
  const boot = restarts(options)
  return (code: Code, over: Partial<WorkflowRegistration> = {}) => boot([flowOf(code, over)])
}

/** Creates engines as `processes` does, each with a list of workflows. */
export function restarts(options: EngineOptions = {}) {
  const clock = createManualClock()
  const shared = { storage: createInMemoryStorage(), clock, ids: createSequenceIds(), ...options }
  return async (workflows: readonly WorkflowRegistration[]) => {
    const engine = createTestEngine({ ...shared, workflows })
    await engine.recover()
    await engine.start()
    await untilIdle(clock)
    return engine
  }
}

export const flowOf = (code: Code, over: Partial<WorkflowRegistration> = {}) =>
  workflowOf('flow', (_, context) => code(context), over)

export const startFlow = async (engine: Awaited<ReturnType<ReturnType<typeof processes>>>) => {
  const { runId = '' } = await engine.execute('flow')
  await untilIdle(engine.clock)
  return runId
}

export const never = () => new Promise<never>(() => undefined)

/** Runs pending work, then returns the answer of the request. */
export async function waitFor<T>(engine: ReturnType<typeof createTestEngine>, answer: Promise<T>): Promise<T> {
  answer.catch(() => undefined)
  await untilIdle(engine.clock)
  return answer
}
