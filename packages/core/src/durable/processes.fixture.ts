import { createInMemoryStorage } from '@perdure/in-memory'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { createTestEngine, settled, workflowOf } from '../engine/test-engine.fixture.ts'
import type { RunContext } from '../targets/agent.ts'

export type Code = (context: RunContext) => Promise<unknown>

/** Processes, one after the other, on the same storage; each may register other code. */
export function processes() {
  const clock = createManualClock()
  const shared = { storage: createInMemoryStorage(), clock, ids: createSequenceIds() }
  return async (code: Code, over = {}) => {
    const engine = createTestEngine({ ...shared, workflows: [workflowOf('flow', (_, context) => code(context), over)] })
    await engine.recover()
    await engine.start()
    await settled(clock)
    return engine
  }
}

export const start = async (engine: Awaited<ReturnType<ReturnType<typeof processes>>>) => {
  const { runId = '' } = await engine.execute('flow')
  await settled(engine.clock)
  return runId
}

export const never = () => new Promise<never>(() => undefined)

/** The answer of a request that needs the clock's turns to come. */
export async function waitFor<T>(engine: ReturnType<typeof createTestEngine>, answer: Promise<T>): Promise<T> {
  answer.catch(() => undefined)
  await settled(engine.clock)
  return answer
}
