import { type AgentDefinition, defineAgent, type RunContext } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import { createServer, type EmbeddedServer } from '@perdure/server-app'
import { dynamicTool, Output, stepCountIs, tool, wrapLanguageModel } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { cutAfter } from './cut-storage.fixture.ts'
import { chatAgent, durable } from './index.ts'
import { QUIET } from './server.fixture.ts'
import { type ScriptedAnswer, scriptedModel } from './testing.ts'
import { shownBy } from './transcript.fixture.ts'

/** What happened outside of the log. */
interface World {
  readonly asked: number[]
  /** The idempotency key of each execution of a tool. */
  readonly executed: string[]
}

type Tools = ReturnType<typeof toolsOf>

interface Program {
  readonly answers: readonly ScriptedAnswer[]
  readonly run: (given: Given) => AgentDefinition['run']
  readonly decision?: { readonly approved: boolean; readonly reason?: string }
  /** How often tools are executed. */
  readonly executions: number
  /** Whether a tool can be cut off while it executes, because commits of other calls come in between. */
  readonly canRepeat?: true
}

interface Given {
  readonly model: ReturnType<typeof scriptedModel>
  readonly tools: Tools
  readonly world: World
}

const inputSchema = z.object({ of: z.string() })

function toolsOf({ executed }: World) {
  const execute = ({ of }: { readonly of: string }, options: object) => {
    executed.push((options as { readonly idempotencyKey: string }).idempotencyKey)
    return `saw ${of}`
  }
  return {
    look: tool({ inputSchema, execute }),
    ask: tool({ inputSchema, needsApproval: true, execute }),
    found: dynamicTool({ inputSchema, execute: (input, options) => execute(input as { of: string }, options) }),
  }
}

const look = (of = 'it') => ({ toolName: 'look', input: { of } })
const ask = (of = 'it') => ({ toolName: 'ask', input: { of } })

const streaming =
  (more: (given: Given) => object = () => ({})) =>
  ({ model, tools, world }: Given): AgentDefinition['run'] =>
  (_, ctx) =>
    durable(ctx).streamText({
      ...{ model, tools, prompt: 'Hi', stopWhen: stepCountIs(9) },
      ...more({ model, tools, world }),
    })

const PROGRAMS: Readonly<Record<string, Program>> = {
  'a tool': { answers: [[{ text: 'Let me see. ' }, look()], 'It is red.'], run: streaming(), executions: 1 },
  'a tool twice': { answers: [look('a'), look('b'), 'Both.'], run: streaming(), executions: 2 },
  'an approval': {
    answers: [[{ text: 'May I? ' }, ask()], 'Thanks.'],
    run: streaming(),
    decision: { approved: true },
    executions: 1,
  },
  'a denial': {
    answers: [ask(), 'Never mind.'],
    run: streaming(),
    decision: { approved: false, reason: 'not today' },
    executions: 0,
  },
  'two approvals beside a tool': {
    answers: [[ask('a'), look('b'), ask('c')], 'All.'],
    run: streaming(),
    decision: { approved: true },
    executions: 3,
    canRepeat: true,
  },
  'a policy that denies': {
    answers: [look(), 'Too bad.'],
    run: ({ model, tools }) =>
      chatAgent({
        id: 'x',
        model,
        tools,
        toolApproval: { look: async () => ({ type: 'denied', reason: 'a rule' }) },
      } as never).run as AgentDefinition['run'],
    executions: 0,
  },
  'an object': {
    answers: [look(), '{"age":7}'],
    run: streaming(() => ({ output: Output.object({ schema: z.object({ age: z.number() }) }) })),
    executions: 1,
  },
  'reasoning, sources and files': {
    answers: [
      [
        { reasoning: 'I think so.' },
        { url: 'https://example.com', title: 'Example' },
        { mediaType: 'image/png', data: 'AAAA' },
        { text: 'Yes it is.' },
      ],
    ],
    run: streaming(),
    executions: 0,
  },
  'parallel tools': {
    answers: [[look('a'), look('b'), look('c')], 'Three.'],
    run: streaming(),
    executions: 3,
    canRepeat: true,
  },
  'a sub-agent': {
    answers: [{ toolName: 'research', input: { of: 'x' } }, 'Researched.'],
    run: ({ model, world }) =>
      streaming(() => ({
        model,
        tools: {
          research: tool({
            inputSchema,
            execute: async ({ of }, options) => {
              world.executed.push((options as unknown as { readonly idempotencyKey: string }).idempotencyKey)
              const { text } = await durable().generateText({ model: scriptedModel([`about ${of}`]), prompt: of })
              return text
            },
          }),
        },
      }))({ model, world, tools: toolsOf(world) }),
    executions: 1,
    canRepeat: true,
  },
  'a dynamic tool and another model': {
    answers: [{ toolName: 'found', input: { of: 'x' } }, 'Found.'],
    run: streaming(({ model }) => ({ prepareStep: () => ({ model }) })),
    executions: 1,
  },
  'middleware, text that is passed on, and waits': {
    answers: [look(), 'It is red.'],
    run:
      ({ model, tools }) =>
      async (_: unknown, ctx: RunContext) => {
        const wrapped = wrapLanguageModel({
          model: model as never,
          middleware: { specificationVersion: 'v3' } as never,
        })
        const options = { model: wrapped, tools, prompt: 'Hi', stopWhen: stepCountIs(9) }
        const streamed = durable(ctx).streamText(options)
        for await (const text of streamed.textStream) await ctx.text(text)
        await ctx.step('note', () => 1)
        return { text: await streamed.text }
      },
    executions: 1,
  },
  'a loop without a stream': {
    answers: [look(), 'It is red.'],
    run:
      ({ model, tools }) =>
      async (_: unknown, ctx: RunContext) => {
        const ai = durable(ctx)
        const agent = new ai.ToolLoopAgent({ model, tools })
        return agent.generate({ prompt: 'Hi' })
      },
    executions: 1,
  },
}

const headers = { 'content-type': 'application/json', 'idempotency-key': 'the-run' }

async function call<T>(server: EmbeddedServer, path: string, body?: object): Promise<T> {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body), headers }
  return (await (await server.fetch(new Request(`http://localhost/v1${path}`, init))).json()) as T
}

interface Run {
  readonly runId: string
  readonly status: string
  readonly result?: unknown
  readonly error?: unknown
}
type Event = { readonly type: string; readonly payload: unknown }

/** Starts the run unless it exists, decides what it asks, and resolves with its end. */
async function drive(server: EmbeddedServer, decision: Program['decision']) {
  const { runId } = await call<Run>(server, '/agents/x/stream', { input: { text: 'Hi' } })
  for (;;) {
    const run = await call<Run>(server, `/runs/${runId}`)
    if (run.status === undefined) throw new Error(JSON.stringify([runId, run]))
    if (['completed', 'failed', 'aborted'].includes(run.status)) {
      const { items } = await call<{ readonly items: readonly Event[] }>(
        server,
        `/runs/${runId}/events?order=asc&limit=200`,
      )
      return { run, events: items }
    }
    const { items } = await call<{ readonly items: readonly { readonly id: string }[] }>(
      server,
      '/approvals?status=pending',
    )
    for (const { id } of items) {
      await server.fetch(
        new Request(`http://localhost/v1/approvals/${id}/resolve`, {
          ...{ method: 'POST', body: JSON.stringify(decision), headers: { 'content-type': 'application/json' } },
        }),
      )
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

async function serverOf(program: Program, world: World, storage: ReturnType<typeof createInMemoryStorage>) {
  const onCall = () => void world.asked.push(1)
  const model = scriptedModel(program.answers, { onCall })
  const agent = defineAgent({ id: 'x', run: program.run({ model, tools: toolsOf(world), world }) as never })
  const server = await createServer({
    config: { auth: { kind: 'none' } },
    adapters: { storage, logger: QUIET },
    agents: [agent],
  })
  await server.start({ listen: false })
  return server
}

const newWorld = (): World => ({ asked: [], executed: [] })

/** What the page shows, without what differs between executions. */
function shown({ run, events }: Awaited<ReturnType<typeof drive>>) {
  const { items } = shownBy({ runId: run.runId, events })
  return items.map((item) => {
    const {
      restarts: _,
      approvalId: __,
      runId: ___,
      messageId: ____,
      ...rest
    } = item as unknown as Record<string, unknown>
    const id = item.kind === 'tool' ? item.id : undefined
    return { ...rest, id }
  })
}

describe.each(Object.entries(PROGRAMS))('%s', (_, program) => {
  it('is the same after a crash at each commit', async () => {
    const { answers, decision, executions, canRepeat } = program
    const uncut = newWorld()
    const whole = cutAfter(createInMemoryStorage(), Number.POSITIVE_INFINITY)
    const server = await serverOf(program, uncut, whole.storage)
    const expected = await drive(server, decision)
    await server.stop({ force: true })
    expect([expected.run.status, expected.run.error]).toEqual(['completed', undefined])
    expect([uncut.asked.length, uncut.executed.length]).toEqual([answers.length, executions])

    for (let at = 1; at <= whole.count(); at++) {
      const world = newWorld()
      const storage = createInMemoryStorage()
      const dying = cutAfter(storage, at)
      const first = await Promise.race([serverOf(program, world, dying.storage), dying.isCut])
      if (first !== undefined) void Promise.race([drive(first, decision), dying.isCut]).catch(() => undefined)
      await Promise.race([dying.isCut, new Promise((resolve) => setTimeout(resolve, 2_000))])

      const second = await serverOf(program, world, storage)
      const ended = await drive(second, decision)
      await second.stop({ force: true })
      const context = `cut after commit ${at} of ${whole.count()}`
      expect([ended.run.status, ended.run.error, ended.run.result], context).toEqual([
        'completed',
        undefined,
        expected.run.result,
      ])
      expect(shown(ended), context).toEqual(shown(expected))
      expect(new Set(world.executed).size, context).toBe(executions)
      // Only an answer that was cut off is asked for again.
      expect(world.asked.length - answers.length, context).toBeLessThanOrEqual(1)
      if (canRepeat === true) continue
      expect(world.executed.length, context).toBe(executions)
      const reports = ended.events.filter(({ type }) => type === 'usage').length
      const uncutReports = expected.events.filter(({ type }) => type === 'usage').length
      expect(reports - uncutReports, context).toBeLessThanOrEqual(world.asked.length - answers.length)
    }
  })
})
