import { describe, expect, it } from 'vitest'
import { runOf } from '../durable/stream-call.fixture.ts'
import { AI_SDK, CHAT, MODEL_PARTS, RESPONSES } from './stream-sources.fixture.ts'

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

  it.each([
    ['0.3', {}],
    ['1', { type: 'ai' }],
  ])('LangChain chunks of version %s is understood', async (_version, author) => {
    const chunks = [
      { ...author, content: 'Hel' },
      { ...author, content: [{ type: 'text', text: 'lo' }] },
      { ...author, content: '', tool_call_chunks: [{ index: 0, id: 'call', name: 'send', args: '{}' }] },
      { ...author, content: '', usage_metadata: { input_tokens: 2, output_tokens: 3 } },
      { ...author, content: '', response_metadata: { finish_reason: 'length' } },
    ]
    const { result, events } = await runOf((_, { stream }) => stream('answer', () => source(chunks)))
    expect(result).toEqual({ text: 'Hello', toolCalls: [], usage: full.usage, finishReason: 'length' })
    expect(events.map(([type]) => type)).toContain('tool.call.delta')
  })

  it('the parts of a model that end without a finish part has the finish reason that the SDK says', async () => {
    const reasonOf = async (chunks: readonly unknown[]) =>
      (await runOf((_, { stream }) => stream('answer', () => source(chunks)))).result.finishReason
    expect(await reasonOf(MODEL_PARTS.slice(0, -1))).toBe('other')
    expect(await reasonOf(MODEL_PARTS)).toBe('stop')
    expect(await reasonOf([{ type: 'text-delta', id: 't', delta: 'Hello' }])).toBeUndefined()
    expect(await reasonOf(['Hello'])).toBeUndefined()
  })

  it('text from a reader is understood', async () => {
    const reader = source(['Hello']).getReader()
    const { result } = await runOf((_, { stream }) => stream('answer', () => ({ getReader: () => reader })))
    expect(result.text).toBe('Hello')
  })

  it.each([
    ['version 6', { type: 'file', mediaType: 'image/png', data: 'iVBORw==' }],
    ['version 7', { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'iVBORw==' } }],
    ['fullStream', { type: 'file', file: { mediaType: 'image/png', base64: 'iVBORw==' } }],
  ])('an image that a model has made, as %s gives it, is a file', async (_form, chunk) => {
    const { events } = await runOf((_, { stream }) => stream('answer', () => source([chunk])))
    const payload = { fileId: expect.any(String), mediaType: 'image/png', data: 'iVBORw==' }
    expect(events).toMatchObject([['part.file', payload]])
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
