import { EVERY_ROW } from '@perdure/ports'
import { expect } from 'vitest'
import type { AgentRegistration } from '../targets/agent.ts'
import type { RegistrationOptions } from '../targets/registration.ts'
import type { RunContext } from '../targets/run-context.ts'
import { agentOf, createTestEngine } from './test-engine.fixture.ts'

export const KEY = { id: 'k'.repeat(64), fingerprint: 'f' }
export type Engine = ReturnType<typeof createTestEngine>

export const callerOf = (id: string, child: string) => agentOf(id, (_, { invoke }) => invoke(child, {}))
export const codeOf = (id: string, run: (context: RunContext) => unknown, over: Partial<RegistrationOptions> = {}) =>
  agentOf(id, async (_, context) => run(context), { onCrash: 'retry', ...over })

/** Runs everything that is due now, also in several steps of parents and children. */
export async function settle(...engines: readonly Engine[]) {
  for (let turn = 0; turn < 6; turn++) for (const engine of engines) await engine.advance(0)
}

export const statusOf = (json: string | undefined) => (JSON.parse(json ?? '{}') as { readonly status?: string }).status

export async function boot(agents: readonly AgentRegistration[], over: Parameters<typeof createTestEngine>[0] = {}) {
  const engine = createTestEngine({ agents, ...over })
  await engine.recover()
  await engine.start()
  await settle(engine)
  return engine
}

/** What the caller and a repeated request get. */
export async function answersOf(engine: Engine, reply: ReturnType<Engine['run']>) {
  const first = await reply
  return [first, await engine.recall(KEY)].map((one) => ({ status: one?.status, run: statusOf(one?.json) }))
}

export const twice = (status: number, run: string) => [
  { status, run },
  { status, run },
]

export const onlyApproval = async ({ storage }: Pick<Engine, 'storage'>) => {
  const { items } = await storage.approvals.list({ status: 'pending' }, { limit: 2, order: 'asc' }, EVERY_ROW)
  expect(items).toHaveLength(1)
  return items[0]?.id ?? ''
}

export const isWaiting = async (promise: Promise<unknown>) =>
  (await Promise.race([promise, new Promise((resolve) => setImmediate(resolve, 'waiting'))])) === 'waiting'
