import { type AgentRegistration, defineAgent, type ReplayedRun, type RunContext } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import { createServer } from '@perdure/server-app'
import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { chatAgent } from './index.ts'
import { type ScriptedAnswer, scriptedModel } from './testing.ts'

const QUIET = { debug() {}, info() {}, warn() {}, error() {} }
const order = z.object({ order: z.string() })
let executions = 0
const refund = tool({ description: 'Refunds', inputSchema: order, execute: () => ++executions })

interface Shop {
  readonly answers?: readonly ScriptedAnswer[]
  readonly instructions?: string
  readonly modelId?: string
  readonly tools?: Parameters<typeof chatAgent>[0]['tools']
}

const ANSWERS = [{ toolName: 'refund', input: { order: 'A' } }, 'Done.'] as const

function shop({ answers = ANSWERS, instructions = 'Be kind.', modelId = 'small', tools = { refund } }: Shop = {}) {
  const asked: unknown[] = []
  const model = scriptedModel(answers, { modelId, onCall: (call) => asked.push(call) })
  return { asked, agent: chatAgent({ id: 'shop', model, tools, instructions }) as AgentRegistration }
}

const serverOf = (agent: AgentRegistration, storage: ReturnType<typeof createInMemoryStorage>) =>
  createServer({ config: { auth: { kind: 'none' } }, adapters: { storage, logger: QUIET }, agents: [agent] })

/** Runs the agent once, and stops its server. */
async function recorded(agent: AgentRegistration, input: unknown = { text: 'Hi' }) {
  const storage = createInMemoryStorage()
  const server = await serverOf(agent, storage)
  await server.start({ listen: false })
  const init = { method: 'POST', body: JSON.stringify({ input }), headers: { 'content-type': 'application/json' } }
  await server.fetch(new Request(`http://localhost/v1/agents/${agent.id}/run`, init))
  await server.stop()
  return storage
}

async function replayed(
  agent: AgentRegistration,
  storage: ReturnType<typeof createInMemoryStorage>,
): Promise<readonly ReplayedRun[]> {
  const server = await serverOf(agent, storage)
  const runs: ReplayedRun[] = []
  for await (const run of server.replayRuns()) runs.push(run)
  return runs
}

describe('replayRuns', () => {
  it('finds the same run with the same code, and calls neither a model nor a tool', async () => {
    const storage = await recorded(shop().agent)
    executions = 0
    const { agent, asked } = shop()

    expect(await replayed(agent, storage)).toMatchObject([{ cause: 'same', status: 'completed', targetId: 'shop' }])
    expect([asked, executions]).toEqual([[], 0])
  })

  it.each([
    ['prompt', { instructions: 'Be strict.' }, 'message 1 (system)'],
    ['model', { modelId: 'large' }, 'scripted/large instead of scripted/small'],
    ['tool set', { tools: { refund, more: refund } }, 'the tool more is new'],
    [
      'schema',
      {
        tools: {
          refund: tool({
            description: 'Refunds',
            inputSchema: order.extend({ euro: z.number().optional() }),
            execute: () => 1,
          }),
        },
      },
      'the input schema of the tool refund',
    ],
  ] as const)('names a changed %s at its first call', async (cause, change, detail) => {
    const storage = await recorded(shop().agent)
    expect(await replayed(shop(change as Shop).agent, storage)).toMatchObject([{ cause, detail, seq: 1 }])
  })

  const agentOf = (run: (input: unknown, ctx: RunContext) => unknown) =>
    defineAgent({ id: 'plain', run } as never) as AgentRegistration

  it('names another call, another result, an error, and code that does more', async () => {
    const storage = await recorded(
      agentOf(async (_, ctx) => [await ctx.step('one', () => 1), await ctx.step('two', () => 2)]),
    )
    const causeOf = async (run: Parameters<typeof agentOf>[0]) => {
      const [first] = await replayed(agentOf(run), storage)
      return [first?.cause, first?.detail]
    }
    let ran = 0
    const step = (ctx: RunContext, name: string) => ctx.step(name, () => ++ran)
    expect(await causeOf(async (_, ctx) => [await step(ctx, 'two'), await step(ctx, 'one')])).toEqual([
      ...['calls', 'call 1 is recorded as step one, but the code calls step two'],
    ])
    expect(await causeOf(async (_, ctx) => step(ctx, 'one'))).toEqual([
      ...['calls', 'call 2 is recorded as step two, but the code ends'],
    ])
    expect(
      await causeOf(async (_, ctx) => [await step(ctx, 'one'), await step(ctx, 'two'), await step(ctx, 'three')]),
    ).toEqual([...['calls', 'behind the recorded calls, the code makes another call']])
    expect(await causeOf(async (_, ctx) => [await step(ctx, 'one'), await step(ctx, 'two'), 3])).toEqual([
      ...['result', '[1,2,3] instead of [1,2]'],
    ])
    expect(
      await causeOf(async (_, ctx) => {
        await step(ctx, 'one')
        throw new Error('broken')
      }),
    ).toEqual(['error', 'broken'])
    expect(ran).toBe(0)
  })

  it('compares the error of a failed run', async () => {
    const failing = (message: string) =>
      agentOf(async (_, ctx) => {
        await ctx.step('one', () => 1)
        throw new Error(message)
      })
    const storage = await recorded(failing('no'))
    expect(await replayed(failing('no'), storage)).toMatchObject([{ cause: 'same', status: 'failed' }])
    expect(await replayed(failing('other'), storage)).toMatchObject([{ cause: 'error', detail: 'other' }])
    expect(
      await replayed(
        agentOf(async (_, ctx) => ctx.step('one', () => 1)),
        storage,
      ),
    ).toMatchObject([{ cause: 'result' }])
    expect(await replayed(defineAgent({ id: 'else', run: () => 1 }) as AgentRegistration, storage)).toMatchObject([
      { cause: 'unregistered' },
    ])
  })
})
