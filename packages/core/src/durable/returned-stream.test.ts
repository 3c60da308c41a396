import { describe, expect, it } from 'vitest'
import { createTestEngine, untilIdle, workflowOf } from '../engine/test-engine.fixture.ts'
import { runOf, spoken, words } from './stream-call.fixture.ts'
import { AI_SDK } from './stream-sources.fixture.ts'

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
