import type { Logger } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import { expect, it } from 'vitest'
import { HEARTBEAT } from './block.ts'
import { type BlockSource, ENDED, fromGenerator, type NextBlocks, WAITING } from './block-source.ts'
import { createBlockStream } from './block-stream.ts'
import { createTestSink } from './test-sink.fixture.ts'

const ignore = () => undefined

/** A source whose blocks the test adds, and the stream of them. */
function open({ heartbeatMs = 100_000, stallMs = 10_000, blocks = [] as NextBlocks[] } = {}) {
  const clock = createManualClock()
  const errors: unknown[] = []
  const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: (_, error) => errors.push(error) }
  const waiting = [...blocks]
  const seen = { ended: 0, closed: 0, timers: 0 }
  const timers = {
    after(delayMs: number, fn: () => void) {
      let isRunning = true
      const stop = () => {
        if (isRunning) seen.timers--
        isRunning = false
      }
      const cancel = clock.after(delayMs, () => {
        stop()
        fn()
      })
      seen.timers++
      return () => {
        stop()
        cancel()
      }
    },
  }
  let wake = () => {}
  const source: BlockSource = {
    next: () => waiting.shift() ?? WAITING,
    close: () => void seen.closed++,
  }
  const stream = createBlockStream(
    { timers, heartbeatMs, stallMs, logger },
    {
      open(woken) {
        wake = woken
        return source
      },
      onEnd: () => void seen.ended++,
    },
  )
  const add = (...added: NextBlocks[]) => {
    waiting.push(...added)
    wake()
  }
  return { stream, clock, errors, seen, waiting, add }
}

const END_STATE = { ended: 1, closed: 1, timers: 0 }

it('passes a long block on in parts, and separates no character', () => {
  const block = `data: ${'x'.repeat(65_529)}🚢${'é'.repeat(150_000)}\n\n`
  const { stream } = open({ blocks: [block, block, ENDED] })
  const sink = createTestSink()

  stream.pipeTo(sink)

  expect(Math.max(...sink.parts.map(({ length }) => length))).toBeLessThanOrEqual(65_537)
  expect(sink.parts.every((part) => part.isWellFormed())).toBe(true)
  expect(sink.parts.join('') === block + block).toBe(true)
  expect(sink.state).toBe('ended')
})

it('takes the next block when the sink has room again', () => {
  const { stream, waiting, seen } = open({ blocks: ['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n', ENDED] })
  const sink = createTestSink(1)

  stream.pipeTo(sink)
  expect([sink.parts.length, waiting.length]).toEqual([1, 3])
  sink.drain()
  expect([sink.parts.length, waiting.length]).toEqual([2, 2])
  sink.drain()
  sink.drain()

  expect(sink.parts.join('')).toBe('data: 1\n\ndata: 2\n\ndata: 3\n\n')
  expect([sink.state, seen]).toEqual(['ended', END_STATE])
})

it('writes what arises while the sink has room', () => {
  const { stream, add } = open()
  const sink = createTestSink()
  stream.pipeTo(sink)

  add('data: 1\n\n')
  add('data: 2\n\n', 'data: 3\n\n')

  expect(sink.parts).toEqual(['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n'])
})

it('sends the rest of a block that has begun when the stream is ended', () => {
  const block = `data: ${'x'.repeat(300_000)}\n\n`
  const { stream, seen } = open({ blocks: [block, block] })
  const sink = createTestSink(1)
  stream.pipeTo(sink)

  stream.end()

  expect(sink.parts.join('') === block).toBe(true)
  expect([sink.state, seen]).toEqual(['ended', END_STATE])
})

it('sends the first block of a stream that has ended before it was sent', () => {
  const { stream, seen } = open({ blocks: ['retry: 1000\n\n', 'data: 1\n\n'] })
  stream.end()
  expect(seen).toEqual(END_STATE)
  const sink = createTestSink()

  stream.pipeTo(sink)

  expect([sink.parts, sink.state]).toEqual([['retry: 1000\n\n'], 'ended'])
})

it('releases everything when its reader leaves, before or after it was sent', () => {
  const early = open({ blocks: ['data: 1\n\n'] })
  early.stream.cancel()
  const late = open({ blocks: ['data: 1\n\n'] })
  const sink = createTestSink()
  late.stream.pipeTo(sink)
  late.stream.cancel()
  late.add('data: 2\n\n')
  late.stream.end()
  late.stream.cancel()

  expect([early.seen, late.seen]).toEqual([END_STATE, END_STATE])
  expect([sink.parts, sink.state]).toEqual([['data: 1\n\n'], 'open'])
})

it('breaks off the stream of a reader that takes nothing while blocks wait', () => {
  const { stream, clock, add, seen } = open({ stallMs: 10_000 })
  const sink = createTestSink(1)
  stream.pipeTo(sink)
  clock.advance(60_000)
  expect(sink.state).toBe('open')

  add('data: 1\n\n', 'data: 2\n\n')
  clock.advance(9_999)
  sink.drain()
  clock.advance(9_999)
  expect(sink.state).toBe('open')
  clock.advance(1)

  expect([sink.state, seen]).toEqual(['failed', END_STATE])
})

it('sends heartbeats between blocks, and none inside of a block or without room', () => {
  const long = `data: ${'x'.repeat(100_000)}\n\n`
  const { stream, clock, add } = open({ heartbeatMs: 1_000, stallMs: 100_000 })
  clock.advance(1_000)
  const sink = createTestSink(1)
  stream.pipeTo(sink)
  clock.advance(1_000)
  expect(sink.parts).toEqual([HEARTBEAT])
  add(long)
  clock.advance(1_000)
  expect(sink.parts).toEqual([HEARTBEAT])

  sink.drain()
  clock.advance(1_000)
  sink.drain()
  sink.drain()
  clock.advance(1_000)

  expect(sink.parts.join('') === HEARTBEAT + long + HEARTBEAT).toBe(true)
})

it('ends the stream, and logs why, when its source fails', async () => {
  const failing = open()
  const cause = new Error('the log cannot be read')
  const asyncSource = createBlockStream(
    {
      timers: failing.clock,
      ...{ heartbeatMs: 1_000, stallMs: 1_000 },
      logger: { debug: ignore, info: ignore, warn: ignore, error: (_, error) => failing.errors.push(error) },
    },
    {
      open: () =>
        fromGenerator(
          (async function* () {
            yield 'data: 1\n\n'
            throw cause
          })(),
          ignore,
        ),
      onEnd: ignore,
    },
  )
  const sink = createTestSink()
  asyncSource.pipeTo(sink)

  await expect.poll(() => sink.state).toBe('ended')
  expect([sink.parts, failing.errors]).toEqual([['data: 1\n\n'], [cause]])
})
