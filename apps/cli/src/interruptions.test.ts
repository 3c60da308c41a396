import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import { watchInterruptions } from './interruptions.ts'

function setUp() {
  const events = new EventEmitter()
  const clock = { ms: 0 }
  const deps = { monotonicMs: () => clock.ms, isHandled: (error: unknown) => error instanceof RangeError }
  return { events, clock, interruptions: watchInterruptions(events, deps) }
}

describe('watchInterruptions', () => {
  it('returns signals and crashes in order, including those that arrived earlier', async () => {
    const { events, clock, interruptions } = setUp()
    const error = new Error('boom')
    events.emit('SIGTERM')
    events.emit('unhandledRejection', error)
    clock.ms = 1_000
    const taken = [interruptions.next(), interruptions.next(), interruptions.next()]
    events.emit('SIGINT')

    expect(await Promise.all(taken)).toEqual([
      { type: 'signal', signal: 'SIGTERM' },
      { type: 'crash', error },
      { type: 'signal', signal: 'SIGINT' },
    ])
  })

  it('ignores handled errors', async () => {
    const { events, interruptions } = setUp()
    const error = new Error('boom')
    events.emit('unhandledRejection', new RangeError('known'))
    events.emit('uncaughtException', new RangeError('known'))
    events.emit('uncaughtException', error)

    expect(await interruptions.next()).toEqual({ type: 'crash', error })
  })

  it('treats signals within 50 ms as one request', async () => {
    const { events, clock, interruptions } = setUp()
    events.emit('SIGINT')
    clock.ms = 49
    events.emit('SIGINT')
    clock.ms = 100
    events.emit('SIGTERM')

    expect(await interruptions.next()).toEqual({ type: 'signal', signal: 'SIGINT' })
    expect(await interruptions.next()).toEqual({ type: 'signal', signal: 'SIGTERM' })
  })
})
