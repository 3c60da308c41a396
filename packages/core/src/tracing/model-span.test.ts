import { createInMemoryMeter, createInMemoryTracer } from '@perdure/in-memory'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, silentLogger, untilIdle } from '../engine/test-engine.fixture.ts'
import { AI_SDK } from '../model-parts/stream-sources.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'
import { genAiMessages } from './gen-ai-messages.ts'
import { genAiProvider } from './model-span.ts'

async function runOf(code: (context: RunContext) => Promise<unknown>, recordContent = false) {
  const tracer = createInMemoryTracer()
  const meter = createInMemoryMeter()
  const agents = [agentOf('a', (_, context) => code(context))]
  const engine = createTestEngine({
    agents,
    tracer,
    meter,
    logger: silentLogger,
    recordContent,
    maxResultBytes: 10_000,
  })
  const { runId = '' } = await engine.run('a', { answer: 'accepted' })
  await untilIdle(engine.clock)
  const [span] = tracer.ended.filter(({ name }) => name === 'model')
  const metrics = Object.fromEntries([...meter.values].filter(([series]) => series.startsWith('gen_ai_')))
  return { engine, tracer, span, metrics, run: await engine.find(runId) }
}

const MODEL = { provider: 'openai.responses', model: 'm-1' }
const LABELS =
  'gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="m-1",gen_ai_response_model="m-1"'

describe('the span of a model call', () => {
  it('has the attributes of the OpenTelemetry conventions', async () => {
    const { span, run, tracer } = await runOf((context) =>
      context.stream('answer', () => ReadableStream.from(AI_SDK), MODEL),
    )

    expect(span).toMatchObject({ title: 'chat m-1', error: undefined })
    expect(span?.attributes).toEqual({
      'perdure.run.id': run?.id,
      'perdure.step.seq': 1,
      'perdure.step.attempt': 1,
      'perdure.step.name': 'answer',
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'm-1',
      'gen_ai.response.model': 'm-1',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 2,
      'gen_ai.usage.output_tokens': 3,
    })
    expect(tracer.ended.filter(({ name }) => name === 'step')).toEqual([])
  })

  it('has the messages only with tracing.recordContent', async () => {
    const call = (context: RunContext) =>
      context.stream('answer', () => ReadableStream.from(AI_SDK), {
        ...MODEL,
        input: [{ role: 'user', content: 'Mail Ann' }],
      })
    const hidden = await runOf(call)
    const { span } = await runOf(call, true)

    expect(JSON.stringify(hidden.tracer.spans)).not.toMatch(/Mail Ann|Hello/)
    expect(JSON.parse(String(span?.attributes['gen_ai.input.messages']))).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'Mail Ann' }] },
    ])
    expect(JSON.parse(String(span?.attributes['gen_ai.output.messages']))).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', content: 'think' },
          { type: 'text', content: 'Hello' },
          { type: 'tool_call', id: 'call', name: 'send', arguments: { to: 1 } },
        ],
        finish_reason: 'stop',
      },
    ])
  })

  it('is created for each try of a step with the option model, with the error of a failed try', async () => {
    let tries = 0
    const { tracer, metrics } = await runOf((context) =>
      context.step(
        'embed',
        ({ modelAnswered }) => {
          if (++tries === 1) throw Object.assign(new Error('busy'), { kind: 'rate-limit' })
          modelAnswered({ usage: { inputTokens: 40, outputTokens: 0 } })
          return [1]
        },
        { model: { ...MODEL, operation: 'embeddings' }, retries: { max: 1, delay: 0 } },
      ),
    )

    expect(tracer.ended.filter(({ name }) => name === 'model')).toMatchObject([
      { title: 'embeddings m-1', error: 'rate-limit' },
      { title: 'embeddings m-1', error: undefined, attributes: { 'gen_ai.usage.input_tokens': 40 } },
    ])
    const labels = LABELS.replace('chat', 'embeddings')
    expect(metrics[`gen_ai_client_operation_duration_seconds_count{${labels},error_type="rate-limit"}`]).toBe(1)
    expect(metrics[`gen_ai_client_operation_duration_seconds_count{${labels},error_type=""}`]).toBe(1)
    expect(metrics[`gen_ai_client_token_usage_sum{${labels},gen_ai_token_type="input"}`]).toBe(40)
  })

  it('is measured: its time and its tokens', async () => {
    const { metrics } = await runOf((context) => context.stream('answer', () => ReadableStream.from(AI_SDK), MODEL))

    expect(metrics).toMatchObject({
      [`gen_ai_client_operation_duration_seconds_count{${LABELS},error_type=""}`]: 1,
      [`gen_ai_client_token_usage_sum{${LABELS},gen_ai_token_type="input"}`]: 2,
      [`gen_ai_client_token_usage_sum{${LABELS},gen_ai_token_type="output"}`]: 3,
    })
  })

  it('is not created for a recorded answer', async () => {
    const { tracer, engine } = await runOf(async (context) => {
      await context.stream('answer', () => ReadableStream.from(AI_SDK), MODEL)
      await context.sleep('nap', 1_000)
    })
    await engine.start()
    await engine.advance(1_000)
    await untilIdle(engine.clock)

    expect(tracer.ended.filter(({ name }) => name === 'run.agent')).toHaveLength(2)
    expect(tracer.ended.filter(({ name }) => name === 'model')).toHaveLength(1)
  })
})

describe('the name of a provider', () => {
  it.each([
    ['openai.responses', 'openai'],
    ['openai', 'openai'],
    ['google.generative-ai', 'gcp.gemini'],
    ['google.vertex.chat', 'gcp.vertex_ai'],
    ['amazon-bedrock', 'aws.bedrock'],
    ['azure.chat', 'azure.ai.openai'],
    ['openaily', 'openaily'],
    ['own', 'own'],
  ])('%s is %s in the conventions', (provider, expected) => {
    expect(genAiProvider(provider)).toBe(expected)
  })
})

describe('the messages of a span', () => {
  it('leave out files, and the oldest messages when they are too long', () => {
    const file = { type: 'file', mediaType: 'image/png', data: 'secret-bytes' }
    const long = { role: 'user', content: 'x'.repeat(100_000) }
    const last = { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c', output: { ok: 1 } }, file] }

    expect(JSON.parse(genAiMessages([long, long, last]) ?? '')).toEqual([
      { role: 'user', parts: [{ type: 'text', content: long.content }] },
      {
        role: 'tool',
        parts: [
          { type: 'tool_call_response', id: 'c', response: { ok: 1 } },
          { type: 'blob', mime_type: 'image/png' },
        ],
      },
    ])
  })

  it.each([
    ['a text', 'Hi', [{ role: 'user', parts: [{ type: 'text', content: 'Hi' }] }]],
    [
      'a tool call of OpenAI',
      [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
      ],
      [{ role: 'assistant', parts: [{ type: 'tool_call', id: 'c', name: 'f', arguments: '{}' }] }],
    ],
  ])('understand %s', (_, messages, expected) => {
    expect(JSON.parse(genAiMessages(messages) ?? '')).toEqual(expected)
  })

  it('are missing if there are none', () => {
    expect([genAiMessages(undefined), genAiMessages([]), genAiMessages(7)]).toEqual([undefined, undefined, undefined])
  })
})
