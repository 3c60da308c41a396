import { describe, expect, it } from 'vitest'
import { createTestEngine, untilIdle, workflowOf } from '../engine/test-engine.fixture.ts'
import type { StreamPart } from '../model-parts/stream-part.ts'
import { AI_SDK } from '../model-parts/stream-sources.fixture.ts'
import { answersIn } from './logged-answers.ts'
import { withOwnResult } from './own-result.ts'
import { runOf, spoken, words } from './stream-call.fixture.ts'

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

  const LOGGED: readonly StreamPart[] = [
    { kind: 'delta', of: 'text', id: 't', delta: 'Hel' },
    { kind: 'delta', of: 'text', id: 't', delta: 'lo' },
    { kind: 'part', type: 'part.source', payload: { sourceId: 's', url: 'https://example.com' } },
    { kind: 'tool-call', id: 'c', name: 'send', args: {} },
    { kind: 'usage', usage: { inputTokens: 1, outputTokens: 1 }, isTotal: false },
  ]

  /** Logs an answer as a durable model does. */
  const log = (context: object, form: 'streamed' | 'whole' = 'streamed') => {
    const answer = answersIn(context).begin(form)
    for (const part of LOGGED) answer.note(part)
  }

  it('shows nothing that a durable model has written to the log, but returns its text', async () => {
    const chunks = [
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', text: 'Hello' },
      { type: 'text-end', id: 't' },
      { type: 'source', sourceType: 'url', id: 's', url: 'https://example.com' },
      { type: 'tool-call', toolCallId: 'c', toolName: 'send', input: {} },
      { type: 'tool-result', toolCallId: 'c', toolName: 'send', output: 1 },
      { type: 'finish-step', usage: { inputTokens: 1, outputTokens: 1 } },
      { type: 'finish', totalUsage: { inputTokens: 1, outputTokens: 1 } },
    ]
    const { result, events } = await runOf((_, context) => {
      log(context)
      return ReadableStream.from(chunks)
    })
    expect([result, events]).toEqual([{ text: 'Hello' }, []])
  })

  it.each([
    ['in other pieces', 'streamed', ['H', 'ell', 'o'], []],
    ['followed by a text of its own', 'streamed', ['Hello', ' Ann'], [' Ann']],
    ['twice', 'streamed', ['Hello', 'Hello'], []],
    ['whole', 'whole', ['Hello'], []],
    ['not at all: it only begins in the same way', 'whole', ['Hel'], ['Hel']],
  ] as const)('shows no text again that the code passes on %s', async (_, form, said, shown) => {
    const { events } = await runOf(async (_, context) => {
      log(context, form)
      for (const text of said) await context.text(text)
    })
    expect(events.flatMap(([, { delta }]) => delta ?? [])).toEqual(shown)
  })

  it('completes with the result that the value determines', async () => {
    const { result } = await runOf(() =>
      withOwnResult({ fullStream: words('Hello') }, async (show) => ({
        shown: await show(words('Bye')),
      })),
    )
    expect(result).toEqual({ shown: { text: 'Bye' } })
  })

  it('fails when the stream fails', async () => {
    const { record } = await runOf(() => ReadableStream.from([{ type: 'error', error: new Error('overloaded') }]))
    expect(record).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('overloaded') } })
  })
})
