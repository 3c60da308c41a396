import type { AgentRegistration, RunCode } from '../../targets/agent.ts'
import type { StartRunRequest } from '../start-request.ts'
import { agentOf, createTestEngine, gate, outcomeOf, untilIdle } from '../test-engine.fixture.ts'

export const textOf = (input: unknown) => String(input)

/** An agent whose runs end when the test says so. */
export function startWorld(over: Partial<AgentRegistration>, options: Parameters<typeof createTestEngine>[0] = {}) {
  const started: unknown[] = []
  const gates = new Map<unknown, PromiseWithResolvers<void>>()
  const code: RunCode = async (input) => {
    started.push(input)
    const one = gate()
    gates.set(input, one)
    await one.promise
    return input
  }
  const open = () => createTestEngine({ ...options, agents: [agentOf('work', code, { onBusy: 'queue', ...over })] })
  const engine = open()
  return {
    ...{ engine, started, open },
    async send(input: unknown, body: StartRunRequest['body'] = {}, request: Partial<StartRunRequest> = {}) {
      const reply = await engine.run('work', { body: { input, ...body }, answer: 'accepted', ...request })
      await untilIdle(engine.clock)
      return outcomeOf(reply)
    },
    async end(input: unknown) {
      gates.get(input)?.resolve()
      await untilIdle(engine.clock)
    },
  }
}
