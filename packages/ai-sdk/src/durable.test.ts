import { defineAgent } from '@perdure/core'
import { runAgent } from '@perdure/server-app/testing'
import * as sdk from 'ai'
import {
  embed,
  embedMany,
  generateText,
  type LanguageModel,
  Output,
  smoothStream,
  stepCountIs,
  streamText,
  tool,
  wrapLanguageModel,
} from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { durable } from './durable.ts'
import { type ScriptedAnswer, type ScriptedCall, scriptedModel } from './testing.ts'
import { reportsOf, shownBy, textsOf } from './transcript.fixture.ts'

const VERSION = 'isStepCount' in sdk ? 7 : 6

const send = tool({
  title: 'Send a mail',
  description: 'Sends a mail.',
  inputSchema: z.object({ to: z.string() }),
  execute: ({ to }) => `sent to ${to}`,
})
const asking = { ...send, needsApproval: true } as typeof send
const CALL = { toolName: 'send', input: { to: 'ann' } }
const MAIL: readonly ScriptedAnswer[] = [[{ text: 'Wait a moment. ' }, CALL], 'It is done.']

/** A model that counts its calls. */
function counted(turns: Parameters<typeof scriptedModel>[0]) {
  const calls: ScriptedCall[] = []
  return { calls, model: scriptedModel(turns, { onCall: (call) => calls.push(call) }) }
}

const agentWith = (run: (ai: ReturnType<typeof durable>, ctx: Parameters<typeof durable>[0] & object) => unknown) =>
  defineAgent({ id: 'mail', run: (_, ctx) => run(durable(ctx), ctx) })

const options = (model: LanguageModel, tools = { send: asking }) => ({
  ...{ model, tools, prompt: 'Tell Ann.', stopWhen: stepCountIs(5) },
})

describe('durable', () => {
  it.each<[string, Parameters<typeof agentWith>[0], LanguageModel[]]>([
    ['generateText', async (ai) => ({ text: (await ai.generateText(options(model()))).text }), []],
    ['a generateText that the agent returns', (ai) => ai.generateText(options(model())), []],
    ['a streamText that the agent awaits', async (ai) => ({ text: await ai.streamText(options(model())).text }), []],
    ['a streamText that the agent returns', (ai) => ai.streamText(options(model())), []],
    [
      'a ToolLoopAgent',
      (ai) => new ai.ToolLoopAgent({ model: model(), tools: { send: asking } }).stream({ prompt: 'Tell Ann.' }),
      [],
    ],
    [
      'a model and tools that are made durable alone',
      async (ai) => {
        const { text } = await generateText({ ...options(ai.model(model())), tools: ai.tools({ send: asking }) })
        return { text }
      },
      [],
    ],
    [
      'an agent that finds its run by itself',
      () => new (durable().ToolLoopAgent)({ model: model(), tools: { send: asking } }).generate({ prompt: 'Tell.' }),
      [],
    ],
  ])('pays for each answer of %s once, across an approval, and shows it once', async (_, run) => {
    current = counted(MAIL)
    const asked = await runAgent(agentWith(run))

    expect([asked.status, current.calls.length, asked.error]).toEqual(['suspended', 1, undefined])
    expect(asked.approvals).toMatchObject([{ name: 'send', title: 'Send a mail', payload: { to: 'ann' } }])
    expect(shownBy(asked).items).toMatchObject([
      { kind: 'text', text: 'Wait a moment. ' },
      { kind: 'tool', id: 'call-1-2', name: 'send', args: { to: 'ann' }, status: 'awaiting-approval' },
      { kind: 'approval', title: 'Send a mail', toolCallId: 'call-1-2' },
    ])

    const ended = await asked.decide('send', { approved: true })
    expect(ended).toMatchObject({ status: 'completed', result: { text: 'It is done.' } })
    expect(current.calls.map(({ toolResults }) => toolResults)).toEqual([
      [],
      [{ toolName: 'send', output: 'sent to ann' }],
    ])
    expect(shownBy(ended).items).toMatchObject([
      { kind: 'text', text: 'Wait a moment. ' },
      { kind: 'tool', id: 'call-1-2', status: 'done', result: 'sent to ann' },
      { kind: 'approval', status: 'approved' },
      { kind: 'text', text: 'It is done.' },
    ])
    expect(reportsOf(ended)).toBe(2)
  })

  let current = counted([])
  const model = () => current.model

  it.each<[string, (ai: ReturnType<typeof durable>, ctx: Parameters<typeof durable>[0] & object) => unknown]>([
    ['returns', (ai) => ai.streamText({ model: model(), prompt: 'Hi' })],
    [
      'returns as it is delayed by smoothStream',
      (ai) =>
        ai.streamText({ model: model(), prompt: 'Hi', experimental_transform: smoothStream({ delayInMs: null }) }),
    ],
    [
      'passes on with ctx.text',
      async (ai, ctx) => {
        const { textStream } = ai.streamText({ model: model(), prompt: 'Hi' })
        for await (const text of textStream) await ctx.text(text)
      },
    ],
    [
      'passes on with ctx.text, and returns',
      async (ai, ctx) => {
        const streamed = ai.streamText({ model: model(), prompt: 'Hi' })
        for await (const text of streamed.textStream) await ctx.text(text)
        return streamed
      },
    ],
    ['returns as a stream of text', (ai) => ai.streamText({ model: model(), prompt: 'Hi' }).textStream],
    ['returns as fullStream', (ai) => ai.streamText({ model: model(), prompt: 'Hi' }).fullStream],
    ['returns as chunks for useChat', (ai) => ai.streamText({ model: model(), prompt: 'Hi' }).toUIMessageStream()],
    [
      'has generated, and passes on',
      async (ai, ctx) => {
        const { text } = await ai.generateText({ model: model(), prompt: 'Hi' })
        await ctx.text(text)
      },
    ],
  ])('shows text once that the code %s', async (_, run) => {
    current = counted(['Hello dear reader.'])
    const ended = await runAgent(agentWith(run))
    expect([ended.status, ended.error]).toEqual(['completed', undefined])
    expect(textsOf(ended)).toEqual(['Hello dear reader.'])
    expect(reportsOf(ended)).toBe(1)
  })

  it('shows the text that a transform makes', async () => {
    current = counted(['my password is hunter2'])
    const masked = () =>
      new TransformStream({
        transform(part, controller) {
          controller.enqueue(part.type === 'text-delta' ? { ...part, text: part.text.replace('hunter2', '***') } : part)
        },
      })
    const ended = await runAgent(
      agentWith((ai) => ai.streamText({ model: model(), prompt: 'Hi', experimental_transform: masked as never })),
    )
    expect(textsOf(ended)).toEqual(['my password is ***'])
    expect(ended.result).toEqual({ text: 'my password is ***' })
  })

  it.each<[string, (ai: ReturnType<typeof durable>) => unknown]>([
    ['streamText', (ai) => ai.streamText({ model: model(), prompt: 'Hi', output: AGE })],
    ['generateText', (ai) => ai.generateText({ model: model(), prompt: 'Hi', output: AGE })],
    ['a ToolLoopAgent', (ai) => new ai.ToolLoopAgent({ model: model(), output: AGE }).stream({ prompt: 'Hi' })],
  ])('completes with the object of %s', async (_, run) => {
    current = counted(['{"age":7}'])
    expect((await runAgent(agentWith(run))).result).toEqual({ age: 7 })
  })

  const AGE = Output.object({ schema: z.object({ age: z.number() }) })

  it('asks a model that prepareStep returns durably', async () => {
    const weak = counted(MAIL)
    const strong = counted(MAIL)
    const prepareStep = ({ stepNumber }: { readonly stepNumber: number }) =>
      stepNumber === 0 ? {} : { model: strong.model }
    const asked = await runAgent(agentWith((ai) => ai.streamText({ ...options(weak.model), prepareStep })))
    const ended = await asked.decide('send', { approved: true })
    expect([weak.calls.length, strong.calls.length]).toEqual([1, 1])
    expect(textsOf(ended)).toEqual(['Wait a moment. ', 'It is done.'])
  })

  it('asks a model that prepareCall returns durably', async () => {
    const [weak, strong] = [counted([]), counted(MAIL)]
    const asked = await runAgent(
      agentWith((ai) => {
        const settings = { model: weak.model, tools: { send: asking } }
        return new ai.ToolLoopAgent({
          ...settings,
          prepareCall: ((given: object) => ({ ...given, model: strong.model })) as never,
        }).stream({ prompt: 'Hi' })
      }),
    )
    const ended = await asked.decide('send', { approved: true })
    expect([ended.result, strong.calls.length]).toEqual([{ text: 'It is done.' }, 2])
  })

  it('records what repairs a tool call', async () => {
    const { model: broken, calls } = counted([[{ toolName: 'send', input: { to: 7 } }], 'Sent.'])
    const repairs: string[] = []
    const asked = await runAgent(
      agentWith((ai) =>
        ai.streamText({
          ...options(broken),
          experimental_repairToolCall: async ({ toolCall }) => {
            repairs.push(toolCall.toolName)
            return { ...toolCall, input: '{"to":"bob"}' }
          },
        }),
      ),
    )
    const ended = await asked.decide('send', { approved: true })
    expect([ended.result, repairs, calls.length]).toEqual([{ text: 'Sent.' }, ['send'], 2])
    expect(calls[1]?.toolResults).toEqual([{ toolName: 'send', output: 'sent to bob' }])
  })

  it('takes the id of a model, and a model in middleware', async () => {
    current = counted(['Hi', 'Hi'])
    const provider = { languageModel: () => model() }
    const holder = globalThis as { AI_SDK_DEFAULT_PROVIDER?: unknown }
    holder.AI_SDK_DEFAULT_PROVIDER = provider
    try {
      const named = await runAgent(agentWith((ai) => ai.streamText({ model: 'some/model', prompt: 'Hi' })))
      expect([named.error, named.result]).toEqual([undefined, { text: 'Hi' }])
      const alone = await runAgent(
        agentWith(async (ai) => (await generateText({ model: ai.model('some/model'), prompt: 'Hi' })).text),
      )
      expect(alone.result).toBe('Hi')
    } finally {
      delete holder.AI_SDK_DEFAULT_PROVIDER
    }
    const wrap = (inner: unknown) =>
      wrapLanguageModel({
        model: inner as never,
        middleware: {
          specificationVersion: 'v3',
          transformParams: async ({ params }: { readonly params: object }) => params,
        } as never,
      })
    for (const run of [
      (ai: ReturnType<typeof durable>) => ai.streamText({ model: wrap(model()), prompt: 'Hi' }),
      (ai: ReturnType<typeof durable>) => ai.streamText({ model: wrap(ai.model(model())), prompt: 'Hi' }),
      (ai: ReturnType<typeof durable>) => streamText({ model: wrap(ai.model(model())), prompt: 'Hi' }),
    ]) {
      const ended = await runAgent(agentWith(run))
      expect(textsOf(ended)).toEqual(['Hi'])
      expect(reportsOf(ended)).toBe(1)
    }
  })

  it('calls the model again after an error that may pass, as often as maxRetries says', async () => {
    let calls = 0
    const flaky = scriptedModel(() => {
      calls++
      if (calls > 1) return 'Hi'
      throw Object.assign(new Error('overloaded'), { isRetryable: true, responseHeaders: { 'retry-after-ms': '1' } })
    })
    const run = (maxRetries: number) =>
      runAgent(agentWith((ai) => ai.streamText({ model: flaky, prompt: 'Hi', maxRetries })))
    expect((await run(0)).outcome).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('overloaded') },
    })
    calls = 0
    expect([(await run(1)).result, calls]).toEqual([{ text: 'Hi' }, 2])
  })

  it('fails the run when the model fails', async () => {
    const broken = scriptedModel([])
    const ended = await runAgent(agentWith((ai) => ai.streamText({ model: broken, prompt: 'Hi' })))
    expect(ended.outcome).toMatchObject({ error: { message: expect.stringContaining('has no answer 1') } })
  })

  it('embeds once', async () => {
    const embedded: unknown[] = []
    const embedder = {
      ...{ specificationVersion: 'v3', provider: 'scripted', modelId: 'vectors' },
      ...{ maxEmbeddingsPerCall: 2, supportsParallelCalls: true },
      async doEmbed({ values }: { readonly values: readonly string[] }) {
        embedded.push(values)
        return { embeddings: values.map((value) => [value.length]), usage: { tokens: values.length }, warnings: [] }
      },
    } as unknown as Parameters<typeof embed>[0]['model']
    const asked = await runAgent(
      agentWith(async (ai, ctx) => {
        const { embedding } = await ai.embed({ model: embedder, value: 'one' })
        const { embeddings } = await ai.embedMany({ model: embedder, values: ['one', 'three', 'seven'] })
        await ctx.approval('go')
        return { embedding, embeddings }
      }),
    )
    const ended = await asked.decide('go', { approved: true })
    expect(ended.result).toEqual({ embedding: [3], embeddings: [[3], [5], [5]] })
    expect(embedded).toEqual([['one'], ['one', 'three'], ['seven']])
    expect(ended.usage).toMatchObject({ inputTokens: 4 })
    expect([typeof embed, typeof embedMany]).toEqual(['function', 'function'])
  })

  it('calls callbacks once that report what has happened', async () => {
    current = counted(MAIL)
    const seen: string[] = []
    const see = (name: string) => () => void seen.push(name)
    const asked = await runAgent(
      agentWith((ai) =>
        ai.streamText({
          ...options(model()),
          onStepFinish: see('step'),
          onFinish: see('finish'),
          onError: see('error'),
        }),
      ),
    )
    await asked.decide('send', { approved: true })
    expect(seen).toEqual(['step', 'step', 'finish'])
  })

  it.each([
    ['experimental_steering', {}],
    ['streamRetries', 2],
    ['includeRawChunks', true],
    ['include', { rawChunks: true }],
  ])('refuses the option %s, which it cannot honour', async (name, value) => {
    const ended = await runAgent(
      agentWith((ai) => ai.streamText({ model: scriptedModel(['Hi']), prompt: 'Hi', [name]: value })),
    )
    expect(ended.outcome).toMatchObject({ status: 'failed', error: { message: expect.stringContaining(name) } })
  })

  it('ends a call that takes longer than its timeout', async () => {
    const slow = scriptedModel(['one two three four five'], { wordDelayMs: 200 })
    const ended = await runAgent(agentWith((ai) => ai.streamText({ model: slow, prompt: 'Hi', timeout: 300 })))
    expect(ended.outcome).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('300 ms') } })
  })

  it('records a tool as a whole: its own model calls are not steps, but count', async () => {
    current = counted(['A summary.'])
    const outer = counted([[{ toolName: 'research', input: {} }], 'Done.'])
    const tools = (ai: ReturnType<typeof durable>) => ({
      research: tool({
        inputSchema: z.object({}),
        execute: async () => (await ai.generateText({ model: model(), prompt: 'Summarize.' })).text,
      }),
    })
    const ended = await runAgent(
      agentWith((ai) =>
        ai.streamText({ model: outer.model, tools: tools(ai), prompt: 'Hi', stopWhen: stepCountIs(3) }),
      ),
    )
    expect([ended.error, ended.result]).toEqual([undefined, { text: 'Done.' }])
    expect(outer.calls[1]?.toolResults).toEqual([{ toolName: 'research', output: 'A summary.' }])
    expect(reportsOf(ended)).toBe(3)
  })

  it('fails a run that calls a model around it, where the SDK lets it', async () => {
    const raw = () => scriptedModel(['Hi'])
    const around = (ai: ReturnType<typeof durable>, ctx: Parameters<typeof durable>[0] & object) => ({
      outside: async () => (await generateText({ model: raw(), prompt: 'Hi' })).text,
      inside: async () => ctx.step('ask', async () => (await generateText({ model: raw(), prompt: 'Hi' })).text),
      durable: async () => (await ai.generateText({ model: raw(), prompt: 'Hi' })).text,
    })
    const outside = await runAgent(agentWith((ai, ctx) => around(ai, ctx).outside()))
    // Version 6 has no place at which a call can be refused.
    if (VERSION === 7)
      expect(outside.outcome).toMatchObject({ error: { message: expect.stringContaining('ai.model(') } })
    else expect(outside.result).toBe('Hi')
    for (const how of ['inside', 'durable'] as const) {
      expect((await runAgent(agentWith((ai, ctx) => around(ai, ctx)[how]()))).result).toBe('Hi')
    }
  })

  it('throws outside of a run', () => {
    expect(() => durable().streamText({ model: scriptedModel(['Hi']), prompt: 'Hi' })).toThrow('no run is executing')
  })
})
