import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import { expect, it } from 'vitest'
import { type BlockSource, ENDED, fromGenerator, WAITING } from '../block-source.ts'
import { createBlockStream } from './block-stream.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

it('passes a long block on in parts', async () => {
  const block = `data: ${'x'.repeat(300_000)}\n\n`
  async function* blocks() {
    yield block
    yield block
  }
  const deps = { timers: createManualClock(), heartbeatMs: 1_000, stallMs: 1_000_000, logger }
  const { body } = createBlockStream(deps, { open: () => fromGenerator(blocks(), ignore), onEnd: ignore })

  let text = ''
  let longest = 0
  for await (const part of body) {
    longest = Math.max(longest, part.length)
    text += Buffer.from(part).toString()
  }

  expect(longest).toBeLessThanOrEqual(65_536)
  expect(text).toBe(block + block)
})

it('sends the rest of a block that has begun when the stream is ended', async () => {
  const block = `data: ${'x'.repeat(300_000)}\n\n`
  async function* blocks() {
    for (;;) yield block
  }
  const deps = { timers: createManualClock(), heartbeatMs: 1_000, stallMs: 1_000_000, logger }
  const { body, end } = createBlockStream(deps, { open: () => fromGenerator(blocks(), ignore), onEnd: ignore })

  let text = ''
  for await (const part of body) {
    if (text === '') end()
    text += Buffer.from(part).toString()
  }

  expect(text).toBe(block)
})

it('leaves no timer when its source ends while the client waits for the last block', async () => {
  const clock = createManualClock()
  let timers = 0
  const counting = {
    after(delayMs: number, fn: () => void) {
      const cancel = clock.after(delayMs, fn)
      let isRunning = true
      timers++
      return () => {
        if (isRunning) timers--
        isRunning = false
        cancel()
      }
    },
  }
  const deps = { timers: counting, heartbeatMs: 1_000, stallMs: 10_000, logger }
  const blocks = ['data: 1\n\n']
  let wake = ignore
  let isReady = false
  const source: BlockSource = { next: () => (isReady ? (blocks.shift() ?? ENDED) : WAITING), close: ignore }
  const { body } = createBlockStream(deps, {
    open(woken) {
      wake = woken as () => undefined
      return source
    },
    onEnd: ignore,
  })
  const reader = body.getReader()
  const read = reader.read()
  await nextTurn()

  isReady = true
  wake()

  expect(Buffer.from((await read).value ?? []).toString()).toBe('data: 1\n\n')
  expect((await reader.read()).done).toBe(true)
  expect(timers).toBe(0)
})
