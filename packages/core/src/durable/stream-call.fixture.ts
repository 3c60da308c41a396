import { agentOf, createTestEngine, untilIdle } from '../engine/test-engine.fixture.ts'

export async function* words(...all: readonly string[]) {
  yield* all
}

/** The events of the run that show text, reasoning, tools, parts and usage: type and payload. */
export const spoken = async (engine: ReturnType<typeof createTestEngine>, runId: string) =>
  (await engine.eventsOf(runId)).flatMap(({ type, payload }) =>
    /^(text|reasoning|tool|part|usage)/.test(type) ? [[type, JSON.parse(payload)] as const] : [],
  )

/** Runs an agent with this code to its end. */
export async function runOf(run: Parameters<typeof agentOf>[1]) {
  const engine = createTestEngine({ agents: [agentOf('says', run)], maxResultBytes: 10_000 })
  const { runId = '' } = await engine.run('says', { answer: 'accepted' })
  await untilIdle(engine.clock)
  const record = await engine.find(runId)
  return { record, result: JSON.parse(record?.result ?? 'null'), events: await spoken(engine, runId), runId }
}
