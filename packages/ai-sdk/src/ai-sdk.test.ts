import type { RunContext } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import { beginFold, foldLog, type LogEvent, transcriptOf } from '@perdure/interop'
import { createServer } from '@perdure/server-app'
import * as v7 from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import * as v6 from 'ai6'
import { MockLanguageModelV3 } from 'ai6/test'
import { afterEach, describe, expect, it } from 'vitest'
import { durableModel, durableTool, type ModelLike, type ToolLike } from './index.ts'

type Context = RunContext

const USAGE = {
  inputTokens: { total: 20, noCache: 20, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 7, text: 7, reasoning: undefined },
}
const finish = (unified: string) => ({ finishReason: { unified, raw: undefined }, usage: USAGE })
const TOOL_CALL = { type: 'tool-call', toolCallId: 'call-1', toolName: 'send', input: '{"to":"ann"}' }

interface Prompted {
  readonly prompt: readonly { readonly role: string }[]
}
const wasSent = ({ prompt }: Prompted) => prompt.some(({ role }) => role === 'tool')

/** Asks to send a mail, then says that it is done. */
function behaviour(onCall: () => void, hang: () => boolean = () => false) {
  return {
    provider: 'mock',
    modelId: 'mail-1',
    async doGenerate(call: Prompted) {
      onCall()
      const content = wasSent(call) ? [{ type: 'text', text: 'Done.' }] : [{ type: 'text', text: 'Wait. ' }, TOOL_CALL]
      return {
        content,
        ...finish(wasSent(call) ? 'stop' : 'tool-calls'),
        warnings: [],
        response: { timestamp: new Date(0) },
      }
    },
    async doStream(call: Prompted) {
      onCall()
      const words = wasSent(call) ? ['Do', 'ne.'] : ['Wa', 'it. ']
      async function* parts() {
        yield { type: 'stream-start', warnings: [] }
        yield { type: 'response-metadata', id: 'r', timestamp: new Date(0), modelId: 'mail-1' }
        yield { type: 'text-start', id: '1' }
        for (const delta of words) yield { type: 'text-delta', id: '1', delta }
        if (hang()) await new Promise(() => undefined)
        yield { type: 'text-end', id: '1' }
        if (!wasSent(call)) {
          yield { type: 'tool-input-start', id: 'call-1', toolName: 'send' }
          yield { type: 'tool-input-delta', id: 'call-1', delta: TOOL_CALL.input }
          yield { type: 'tool-input-end', id: 'call-1' }
          yield TOOL_CALL
        }
        yield { type: 'finish', ...finish(wasSent(call) ? 'stop' : 'tool-calls') }
      }
      return { stream: ReadableStream.from(parts()) }
    },
  }
}

/** The members of the answers that the tests read. */
interface Answer {
  readonly runId: string
  readonly status: string
  readonly result: unknown
  readonly error: unknown
  readonly approvals: readonly { readonly id: string }[]
  readonly items: readonly LogEvent[]
}

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

async function serverWith(run: (ctx: Context) => unknown, storage = createInMemoryStorage()) {
  const server = await createServer({
    config: { auth: { kind: 'none' } },
    adapters: { storage, logger: { debug() {}, info() {}, warn() {}, error() {} } },
    agents: [
      {
        id: 'mail',
        description: 'Sends mail.',
        onCrash: 'retry',
        agent: { run: ((_: unknown, ctx: Context) => run(ctx)) as never },
      },
    ],
  })
  await server.start({ listen: false })
  stops.push(() => server.stop({ force: true }))
  const get = async (path: string, body?: object) => {
    const init =
      body === undefined
        ? {}
        : { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    const response = await server.fetch(new Request(`http://localhost/v1${path}`, init))
    return (await response.json()) as Answer
  }
  const transcript = async (runId: string) => {
    const { items } = (await get(`/runs/${runId}/events?order=asc&limit=200`)) as unknown as {
      readonly items: readonly LogEvent[]
    }
    return { events: items, ...transcriptOf(foldLog(items, beginFold(runId))) }
  }
  return { get, transcript, start: () => get('/agents/mail/run', {}) }
}

/** What the tests need of either version of the SDK. */
interface Sdk {
  readonly name: string
  readonly model: (behaviour: object) => ModelLike
  readonly tools: (ctx: Context, onSend: (to: string) => unknown) => object
  readonly generate: (options: object) => PromiseLike<{ readonly text: string }>
  readonly stream: (options: object) => {
    readonly text: PromiseLike<string>
    readonly fullStream: AsyncIterable<unknown>
  }
  readonly stop: unknown
}

type Versions = { readonly jsonSchema: (schema: object) => unknown }
const sdkOf = (name: string, sdk: Versions & Record<string, unknown>, model: Sdk['model'], stop: unknown): Sdk => ({
  ...{ name, model, stop },
  tools: (ctx, onSend) => ({
    send: durableTool(
      ctx,
      'send',
      {
        description: 'Sends a mail.',
        inputSchema: sdk.jsonSchema({ type: 'object', properties: { to: { type: 'string' } } }),
        execute: ({ to }: { readonly to: string }) => onSend(to),
      },
      { approval: (input) => ({ title: `Send to ${(input as { readonly to: string }).to}?` }) },
    ),
  }),
  generate: sdk.generateText as Sdk['generate'],
  stream: sdk.streamText as Sdk['stream'],
})

const SDKS: readonly Sdk[] = [
  sdkOf('ai 6', v6 as never, (given) => new MockLanguageModelV3(given as never) as never, v6.stepCountIs(5)),
  sdkOf('ai 7', v7 as never, (given) => new MockLanguageModelV4(given as never) as never, v7.isStepCount(5)),
]

describe.each(SDKS)('$name', (sdk) => {
  const options = (ctx: Context, model: ModelLike, onSend: (to: string) => unknown = (to) => `sent to ${to}`) => ({
    model: durableModel(ctx, model),
    prompt: 'Tell Ann.',
    tools: sdk.tools(ctx, onSend),
    stopWhen: sdk.stop,
  })

  it.each([
    [
      'generateText',
      async (ctx: Context, model: ModelLike) => ({ text: (await sdk.generate(options(ctx, model))).text }),
    ],
    [
      'a streamText that the agent awaits',
      async (ctx: Context, model: ModelLike) => ({ text: await sdk.stream(options(ctx, model)).text }),
    ],
    ['a streamText that the agent returns', (ctx: Context, model: ModelLike) => sdk.stream(options(ctx, model))],
  ])('pays for each answer of %s once, across an approval, and shows it once', async (_, run) => {
    let calls = 0
    const model = sdk.model(behaviour(() => calls++))
    const { get, transcript, start } = await serverWith((ctx) => run(ctx, model))

    const { runId, status, approvals } = await start()
    expect([status, calls]).toEqual(['suspended', 1])
    const [approval] = approvals
    expect((await transcript(runId)).items).toMatchObject([
      { kind: 'text', text: 'Wait. ' },
      { kind: 'tool', id: 'call-1', name: 'send', args: { to: 'ann' }, status: 'awaiting-approval' },
      { kind: 'approval', title: 'Send to ann?', toolCallId: 'call-1' },
    ])

    await get(`/approvals/${approval?.id}/resolve`, { approved: true })
    await expect.poll(async () => (await get(`/runs/${runId}`)).status).toBe('completed')

    expect(calls).toBe(2)
    const { items, usage, result } = await transcript(runId)
    expect(items).toMatchObject([
      { kind: 'text', text: 'Wait. ' },
      { kind: 'tool', id: 'call-1', status: 'done', result: 'sent to ann' },
      { kind: 'approval', status: 'approved' },
      { kind: 'text', text: 'Done.' },
    ])
    expect(usage).toMatchObject([{ provider: 'mock', model: 'mail-1', inputTokens: 40, outputTokens: 14 }])
    expect((result as { readonly text: string }).text).toContain('Done.')
  })

  it('tells the model the message of a tool that fails', async () => {
    const model = sdk.model(behaviour(() => undefined))
    const fails = () => Promise.reject(new Error('mailbox full'))
    const { get, transcript, start } = await serverWith(async (ctx) => ({
      text: (await sdk.generate(options(ctx, model, fails))).text,
    }))

    const { runId, approvals } = await start()
    await get(`/approvals/${approvals[0]?.id}/resolve`, { approved: true })
    await expect.poll(async () => (await get(`/runs/${runId}`)).status).toBe('completed')

    expect((await transcript(runId)).items).toMatchObject([
      {},
      { kind: 'tool', status: 'failed', error: { message: 'mailbox full' } },
      {},
      {},
    ])
  })

  it('fails the run when the model fails', async () => {
    const broken = sdk.model({ ...behaviour(() => undefined), doStream: () => Promise.reject(new Error('no credit')) })
    const { start } = await serverWith((ctx) => sdk.stream({ ...options(ctx, broken), onError: () => undefined }))
    expect(await start()).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('no credit') } })
  })
})

/** Calls a tool as the SDK does. */
const call = ({ execute }: ToolLike, input: unknown = {}): unknown => execute?.(input, { toolCallId: 'c' })

describe('durableTool', () => {
  it('shows the preliminary results of a tool, and returns the last one', async () => {
    const weather = {
      async *execute() {
        yield 'loading'
        yield 'sunny'
      },
    }
    const { transcript, start } = await serverWith(async (ctx) => call(durableTool(ctx, 'weather', weather)))
    const { runId, result } = await start()
    expect(result).toBe('sunny')
    expect((await transcript(runId)).events.filter(({ type }) => type === 'tool.result')).toMatchObject([
      { payload: { toolCallId: 'c', result: 'loading', preliminary: true } },
      { payload: { toolCallId: 'c', result: 'sunny', preliminary: true } },
    ])
  })

  it('numbers an id that the model repeats', async () => {
    const { transcript, start } = await serverWith(async (ctx) => {
      const tool = durableTool(ctx, 'now', { execute: (n: number) => n })
      return [await call(tool, 1), await call(tool, 2)]
    })
    const { runId, result } = await start()
    expect(result).toEqual([1, 2])
    const { items } = await transcript(runId)
    expect(items.map((item) => item.id)).toEqual(['c', 'c.2'])
  })

  it.each([
    ['a tool without execute', (ctx: Context) => durableTool(ctx, 'x', {})],
    ['a model that is only named', (ctx: Context) => durableModel(ctx, 'openai/gpt' as never)],
  ])('refuses %s', async (_, make) => {
    const { start } = await serverWith(async (ctx) => void make(ctx))
    expect(await start()).toMatchObject({
      status: 'failed',
      error: { message: expect.stringMatching(/^durable(Tool|Model)/) },
    })
  })
})
