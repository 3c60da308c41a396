import { createInMemoryStorage } from '@perdure/in-memory'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { createTestEngine, untilIdle, workflowOf } from '../engine/test-engine.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'

export type Code = (context: RunContext) => Promise<unknown>

/** Creates engines one after another on the same storage, as restarts do; each engine may register different code. */
export function processes() {
  const clock = createManualClock()
  const shared = { storage: createInMemoryStorage(), clock, ids: createSequenceIds() }
  return async (code: Code, over = {}) => {
    const engine = createTestEngine({ ...shared, workflows: [workflowOf('flow', (_, context) => code(context), over)] })
    await engine.recover()
    await engine.start()
    await untilIdle(clock)
    return engine
  }
}

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
