import type { Logger } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import { expect, it } from 'vitest'
import { fromGenerator } from '../block-source.ts'
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
