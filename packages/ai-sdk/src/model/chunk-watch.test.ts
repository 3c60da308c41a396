import { setTimeout as pause } from 'node:timers/promises'
import { defineAgent } from '@perdure/core'
import { runAgent } from '@perdure/server-app/testing'
import { describe, expect, it } from 'vitest'
import { durable } from '../index.ts'
import { scriptedModel } from '../testing.ts'

type Part = Readonly<Record<string, unknown>>

const START: Part = { type: 'stream-start', warnings: [] }
const WORDS: readonly Part[] = [
  { type: 'text-start', id: '0' },
  { type: 'text-delta', id: '0', delta: 'Hello' },
]
const END: readonly Part[] = [
  { type: 'text-end', id: '0' },
  {
    type: 'finish',
    finishReason: { unified: 'stop' },
    usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
  },
]

/** A model that sends these parts, and pauses for a number of milliseconds where there is one. */
function pausingModel(...sent: readonly (readonly Part[] | number)[]) {
  const signals: (AbortSignal | undefined)[] = []
  async function* parts(signal?: AbortSignal) {
    for (const one of sent) {
      if (typeof one === 'number') await pause(one, undefined, signal === undefined ? {} : { signal })
      else yield* one
    }
  }
  const model = Object.assign(scriptedModel([]), {
    async doStream({ abortSignal }: { readonly abortSignal?: AbortSignal }) {
      signals.push(abortSignal)
      return { stream: ReadableStream.from(parts(abortSignal)) }
    },
  })
  return { model: model as never, signals }
}

const FOREVER = 2 ** 30

const ask = (model: never, timeout: object) =>
  runAgent(defineAgent({ id: 'x', run: (_, ctx) => durable(ctx).streamText({ model, prompt: 'Hi', timeout }) }), null)

describe('the time limits of chunks', () => {
  it.each([
    ['chunkMs', 'between two parts', [[START, ...WORDS], FOREVER, END], 'Chunk timeout of 20ms exceeded'],
    ['firstChunkMs', 'before the first part', [[START], FOREVER, END], 'First chunk timeout of 20ms exceeded'],
  ] as const)('%s ends an answer that pauses %s, and its call', async (name, _, sent, message) => {
    const { model, signals } = pausingModel(...sent)

    const run = await ask(model, { [name]: 20 })

    expect(run).toMatchObject({ status: 'failed', error: { message: expect.stringContaining(message) } })
    expect(signals.map((signal) => signal?.reason)).toMatchObject([{ name: 'TimeoutError', message }])
  })

  it.each([
    ['chunkMs before the first part', { chunkMs: 300 }, [[START], 600, [...WORDS, ...END]]],
    ['firstChunkMs after it', { firstChunkMs: 300 }, [[START, ...WORDS], 600, END]],
    ['limits that are not reached', { firstChunkMs: 60_000, chunkMs: 60_000 }, [[START], 1, WORDS, 1, END]],
  ] as const)('leave an answer alone: %s', async (_, timeout, sent) => {
    const run = await ask(pausingModel(...sent).model, timeout)

    expect(run).toMatchObject({ status: 'completed', result: { text: 'Hello' } })
  })
})
