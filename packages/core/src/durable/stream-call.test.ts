import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, gate, untilIdle, workflowOf } from '../engine/test-engine.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'
import { never, restarts } from './processes.fixture.ts'

async function* words(...all: readonly string[]) {
  yield* all
}

const spoken = async (engine: ReturnType<typeof createTestEngine>, runId: string) =>
  (await engine.eventsOf(runId)).flatMap(({ type, payload }) =>
    /^(text|reasoning|tool|part|usage)/.test(type) ? [[type, JSON.parse(payload)] as const] : [],
  )

async function runOf(run: Parameters<typeof agentOf>[1]) {
  const engine = createTestEngine({ agents: [agentOf('says', run)], maxResultBytes: 10_000 })
  const { runId = '' } = await engine.run('says', { answer: 'accepted' })
  await untilIdle(engine.clock)
  const record = await engine.find(runId)
  return { record, result: JSON.parse(record?.result ?? 'null'), events: await spoken(engine, runId), runId }
}

describe('ctx.stream', () => {
  it('writes the text as it comes, in one block, and returns its summary', async () => {
    const { result, events, runId } = await runOf((_, { stream }) => stream('answer', () => words('Hel', 'lo')))

    const block = { messageId: `${runId}.1`, blockId: `${runId}.1.1` }
    expect(result).toEqual({ text: 'Hello', toolCalls: [] })
    expect(events).toEqual([
      ['text.start', block],
      ['text.delta', { ...block, delta: 'Hel' }],
      ['text.delta', { ...block, delta: 'lo' }],
      ['text.end', block],
    ])
  })

  it('calls the model once, and says nothing twice, across a wait', async () => {
    let calls = 0
    const engine = createTestEngine({
      workflows: [
        workflowOf('flow', async (_, { stream, sleep }) => {
          const { text } = await stream('answer', () => words(`call ${++calls}`))
          await sleep('nap', 10)
          return text
        }),
      ],
    })
    await engine.start()
    const { runId = '' } = await engine.execute('flow')
    await untilIdle(engine.clock)
    await engine.advance(10)

    expect((await engine.find(runId))?.result).toBe('"call 1"')
    expect((await spoken(engine, runId)).filter(([type]) => type === 'text.delta')).toHaveLength(1)
  })

  it.each([
    ['retry', 2, 'completed'],
    ['fail', 1, 'failed'],
  ] as const)('follows onCrash %s, and starts its blocks again', async (onCrash, calls, status) => {
    let count = 0
    const code = ({ stream }: RunContext) =>
      stream(
        'answer',
        async function* () {
          yield 'Hel'
          if (++count === 1) await never()
          yield 'lo'
        },
        { onCrash },
      )
    const boot = restarts()
    const flow = workflowOf('flow', (_, context) => code(context))
    const first = await boot([flow])
    const { runId = '' } = await first.execute('flow')
    await untilIdle(first.clock)
    const second = await boot([flow])

    expect([count, (await second.find(runId))?.status]).toEqual([calls, status])
    const starts = (await spoken(second, runId)).filter(([type]) => type === 'text.start')
    expect(starts).toHaveLength(calls)
    expect(new Set(starts.map(([, { blockId }]) => blockId)).size).toBe(1)
    expect((await second.eventsOf(runId)).map(({ type }) => type)).toContain('run.rewound')
  })

  it('withdraws in a repeated try what the failed try said, also in blocks that do not come again', async () => {
    let tries = 0
    const { events, result } = await runOf((_, { stream }) =>
      stream(
        'answer',
        async function* () {
          yield { type: 'text-delta', id: 'a', text: 'wrong' }
          if (++tries > 1) return
          yield { type: 'text-delta', id: 'b', text: 'wrong too' }
          yield { type: 'error', error: new Error('overloaded') }
        },
        { retry: { maxAttempts: 2, initialDelayMs: 0 } },
      ),
    )
    expect(result.text).toBe('wrong')
    const shown = new Map<string, string>()
    for (const [type, { blockId, delta }] of events) {
      if (type === 'text.start') shown.set(blockId, '')
      if (type === 'text.delta') shown.set(blockId, `${shown.get(blockId)}${delta}`)
    }
    expect([...shown.values()]).toEqual(['wrong', ''])
  })

  it('stops reading, and closes the source, when a try times out', async () => {
    const closed = gate()
    const engine = createTestEngine({
      agents: [
        agentOf('says', (_, { stream }) =>
          stream(
            'answer',
            async function* ({ signal }) {
              try {
                for (;;) {
                  yield 'x'
                  await new Promise((resolve) => signal.addEventListener('abort', resolve))
                }
              } finally {
                closed.resolve()
              }
            },
            { timeoutMs: 10 },
          ),
        ),
      ],
    })
    const { runId = '' } = await engine.run('says', { answer: 'accepted' })
    await untilIdle(engine.clock)
    await engine.advance(10)

    await closed.promise
    expect((await engine.find(runId))?.status).toBe('failed')
    expect((await spoken(engine, runId)).filter(([type]) => type === 'text.delta')).toHaveLength(1)
  })

  it.each([
    ['no function', ({ stream }: RunContext) => stream('answer', undefined as never)],
    ['a function without a stream', ({ stream }: RunContext) => stream('answer', () => 'text' as never)],
    ['an unknown option', ({ stream }: RunContext) => stream('answer', () => words('a'), { modle: 'x' } as never)],
  ])('fails with %s', async (_, call) => {
    const { record } = await runOf((_input, context) => call(context))
    expect(record).toMatchObject({
      status: 'failed',
      error: { code: expect.stringMatching(/validation-failed|step-failed/) },
    })
  })
})

const AI_SDK = [
  { type: 'start' },
  { type: 'start-step' },
  { type: 'reasoning-start', id: 'r' },
  { type: 'reasoning-delta', id: 'r', text: 'think' },
  { type: 'reasoning-end', id: 'r' },
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', text: 'Hello' },
  { type: 'text-end', id: 't' },
  { type: 'tool-input-start', id: 'call', toolName: 'send' },
  { type: 'tool-input-delta', id: 'call', delta: '{"to":1}' },
  { type: 'tool-input-end', id: 'call' },
  { type: 'tool-call', toolCallId: 'call', toolName: 'send', input: { to: 1 } },
  { type: 'finish-step', usage: { inputTokens: 2, outputTokens: 3 }, response: { modelId: 'm-1' } },
  { type: 'finish', finishReason: 'stop', totalUsage: { inputTokens: 2, outputTokens: 3 } },
]
const MODEL_PARTS = [
  { type: 'stream-start', warnings: [] },
  { type: 'response-metadata', modelId: 'm-1' },
  { type: 'reasoning-delta', id: 'r', delta: 'think' },
  { type: 'text-delta', id: 't', delta: 'Hello' },
  { type: 'tool-call', toolCallId: 'call', toolName: 'send', input: '{"to":1}' },
  {
    type: 'finish',
    finishReason: { unified: 'stop' },
    usage: { inputTokens: { total: 2 }, outputTokens: { total: 3 } },
  },
]
const completionChunk = (choice: object, more = {}) => ({
  object: 'chat.completion.chunk',
  model: 'm-1',
  choices: [choice],
  ...more,
})
const CHAT = [
  completionChunk({ delta: { role: 'assistant', content: '', reasoning_content: 'think' } }),
  completionChunk({ delta: { content: 'Hel' } }),
  completionChunk({ delta: { content: 'lo' } }),
  completionChunk({
    delta: { tool_calls: [{ index: 0, id: 'call', function: { name: 'send', arguments: '{"to"' } }] },
  }),
  completionChunk({ delta: { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] } }),
  completionChunk({ delta: {}, finish_reason: 'stop' }),
  { ...completionChunk({}), choices: [], usage: { prompt_tokens: 2, completion_tokens: 3 } },
]
const toolItem = { type: 'function_call', id: 'fc', call_id: 'call', name: 'send', arguments: '{"to":1}' }
const RESPONSES = [
  { type: 'response.created' },
  { type: 'response.reasoning_summary_text.delta', item_id: 'r', delta: 'think' },
  { type: 'response.output_text.delta', item_id: 'm', content_index: 0, delta: 'Hello' },
  { type: 'response.output_text.done', item_id: 'm', content_index: 0 },
  { type: 'response.output_item.added', item: toolItem },
  { type: 'response.function_call_arguments.delta', item_id: 'fc', delta: '{"to":1}' },
  { type: 'response.output_item.done', item: toolItem },
  {
    type: 'response.completed',
    response: { status: 'stop', model: 'm-1', usage: { input_tokens: 2, output_tokens: 3 } },
  },
]

describe('a stream of', () => {
  const full = {
    ...{ text: 'Hello', reasoning: 'think', finishReason: 'stop', model: 'm-1' },
    toolCalls: [{ toolCallId: 'call', toolName: 'send', args: { to: 1 } }],
    usage: { inputTokens: 2, outputTokens: 3 },
  }
  const source = (chunks: readonly unknown[]) => ReadableStream.from(chunks)

  it.each([
    ['AI SDK parts', source(AI_SDK)],
    ['the result of streamText', { fullStream: source(AI_SDK), textStream: source(['other']) }],
    ['the parts of a model', { stream: source(MODEL_PARTS) }],
    ['OpenAI chat completion chunks', source(CHAT)],
    ['OpenAI Responses events', source(RESPONSES)],
  ])('%s is understood', async (_, stream) => {
    const { result, events } = await runOf((_input, context) => context.stream('answer', () => stream))

    expect(result).toEqual(full)
    expect(
      events
        .filter(([type]) => type === 'text.delta')
        .map(([, { delta }]) => delta)
        .join(''),
    ).toBe('Hello')
    expect(events.find(([type]) => type === 'tool.call.end')?.[1]).toMatchObject({
      toolCallId: 'call',
      args: { to: 1 },
    })
    expect(events.filter(([type]) => type === 'usage')).toMatchObject([
      ['usage', { model: 'm-1', inputTokens: 2, outputTokens: 3 }],
    ])
  })

  it('LangChain chunks is understood', async () => {
    const chunks = [
      { content: 'Hel' },
      { content: [{ type: 'text', text: 'lo' }] },
      { content: '', tool_call_chunks: [{ index: 0, id: 'call', name: 'send', args: '{}' }] },
      { content: '', usage_metadata: { input_tokens: 2, output_tokens: 3 } },
    ]
    const { result, events } = await runOf((_, { stream }) => stream('answer', () => source(chunks)))
    expect(result).toEqual({ text: 'Hello', toolCalls: [], usage: full.usage })
    expect(events.map(([type]) => type)).toContain('tool.call.delta')
  })

  it('text from a reader is understood', async () => {
    const reader = source(['Hello']).getReader()
    const { result } = await runOf((_, { stream }) => stream('answer', () => ({ getReader: () => reader })))
    expect(result.text).toBe('Hello')
  })

  it('sources, files, results, data and unknown parts is shown as parts', async () => {
    const chunks = [
      { type: 'source', sourceType: 'url', id: 's', url: 'https://example.com' },
      { type: 'file', file: { mediaType: 'text/plain', base64: 'aGk=' } },
      { type: 'tool-result', toolCallId: 'call', output: 7, preliminary: true },
      { type: 'tool-error', toolCallId: 'call', error: new Error('no') },
      { type: 'data-weather', data: 3, id: 'w' },
      { type: 'brand-new', value: 1 },
      { what: 'ever' },
    ]
    const { events } = await runOf((_, { stream }) => stream('answer', () => source(chunks)))
    expect(events).toMatchObject([
      ['part.source', { sourceId: 's', url: 'https://example.com' }],
      ['part.file', { fileId: expect.any(String), mediaType: 'text/plain', data: 'aGk=' }],
      ['tool.result', { toolCallId: 'call', result: 7, preliminary: true }],
      ['tool.result', { toolCallId: 'call', error: { kind: 'execution_failed', message: 'no' } }],
      ['part.data', { name: 'weather', data: 3, id: 'w' }],
      ['part.data', { name: 'sdk.brand-new', data: { value: 1 } }],
      ['part.data', { name: 'sdk.chunk', data: { what: 'ever' } }],
    ])
  })
})

describe('code that returns or yields a stream', () => {
  it.each([
    ['returns one', () => ({ textStream: words('Hel', 'lo') })],
    ['returns one later', async () => ({ fullStream: ReadableStream.from(AI_SDK) })],
  ])('shows it when it %s', async (_, run) => {
    const { result, events } = await runOf(run)
    expect(result).toEqual({ text: 'Hello' })
    expect(events.filter(([type]) => type === 'text.start')).toHaveLength(1)
  })

  it('shows text and streams that a generator yields, between its other events', async () => {
    const { result, events } = await runOf(async function* () {
      yield 'First '
      yield { type: 'weather.seen', payload: {} }
      yield ReadableStream.from(['second'])
      yield 'third'
      return 'done'
    })
    expect(result).toBe('done')
    expect(events.flatMap(([, { delta }]) => delta ?? [])).toEqual(['First ', 'second', 'third'])
  })

  it('shows nothing again after a wait', async () => {
    const engine = createTestEngine({
      workflows: [
        workflowOf('flow', async function* (_, { sleep }) {
          yield 'one'
          yield ReadableStream.from(['two'])
          await sleep('nap', 10)
          return ReadableStream.from(['three'])
        }),
      ],
    })
    await engine.start()
    const { runId = '' } = await engine.execute('flow')
    await untilIdle(engine.clock)
    await engine.advance(10)

    expect((await engine.find(runId))?.result).toBe('{"text":"three"}')
    expect((await spoken(engine, runId)).flatMap(([, { delta }]) => delta ?? [])).toEqual(['one', 'two', 'three'])
  })

  it('shows nothing that a durable model has written to the log, but returns its text', async () => {
    const providerMetadata = { perdure: { isInLog: true } }
    const chunks = [
      { type: 'text-start', id: 't', providerMetadata },
      { type: 'text-delta', id: 't', text: 'Hello', providerMetadata },
      { type: 'tool-call', toolCallId: 'c', toolName: 'send', input: {}, providerMetadata },
      { type: 'finish-step', usage: { inputTokens: 1, outputTokens: 1 }, providerMetadata },
      { type: 'finish', totalUsage: { inputTokens: 1, outputTokens: 1 } },
    ]
    const { result, events } = await runOf(() => ReadableStream.from(chunks))
    expect([result, events]).toEqual([{ text: 'Hello' }, []])
  })

  it('fails when the stream fails', async () => {
    const { record } = await runOf(() => ReadableStream.from([{ type: 'error', error: new Error('overloaded') }]))
    expect(record).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('overloaded') } })
  })
})
