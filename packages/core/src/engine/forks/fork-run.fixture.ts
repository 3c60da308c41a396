import { createHash } from 'node:crypto'
import { EVERY_ROW } from '@perdure/ports'
import { ALICE, createTestEngine, type EngineOptions, outcomeOf } from '../test-engine.fixture.ts'
import type { ForkRunRequest } from './fork-run.ts'

/** May start, repair and decide the runs of this engine. */
export const REPAIRER = { subject: 'alice', scopes: [...ALICE.scopes, 'runs:repair', 'approvals:resolve'] }

export async function startEngine(options: EngineOptions) {
  const engine = createTestEngine(options)
  await engine.start()
  const fork = async (runId: string, over: Partial<ForkRunRequest> = {}) => {
    const reply = await engine.forkRun({
      ...{ runId, from: 'failure', action: 'runs.fork', principal: REPAIRER, visibility: EVERY_ROW },
      ...over,
    })
    return { reply, runId: outcomeOf(reply).runId }
  }
  /** Starts a run and lets its code run until it ends or waits. */
  const execute = async (id: string, body = {}) => {
    const { runId } = outcomeOf(await engine.execute(id, { body }))
    await engine.advance(0)
    return runId
  }
  return { ...engine, fork, execute }
}

type TestEngine = Awaited<ReturnType<typeof startEngine>>

/** A hash of everything that is stored about a run. */
export async function hashOf({ storage, eventsOf, find }: TestEngine, runId: string): Promise<string> {
  const approvals = await storage.approvals.list({ runId }, { limit: 100, order: 'asc' }, EVERY_ROW)
  const parts = [await find(runId), await eventsOf(runId), await storage.steps.list(runId), approvals]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
