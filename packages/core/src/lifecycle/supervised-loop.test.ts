import { createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../engine/test-engine.fixture.ts'
import { createSupervisedLoop } from './supervised-loop.ts'

const turns = () => new Promise<void>((resolve) => setImmediate(resolve))

function loopOf(work: () => Promise<number | undefined>) {
  const clock = createManualClock()
  const loop = createSupervisedLoop({ clock, timers: clock, logger: silentLogger }, { name: 'work', work })
  return {
    loop,
    async advance(ms: number) {
      clock.advance(ms)
      await turns()
    },
  }
}

describe('createSupervisedLoop', () => {
  it('works at its start and again after the time the work asks for', async () => {
    let calls = 0
    const { loop, advance } = loopOf(async () => {
      calls++
      return 500
    })

    loop.start()
    await advance(0)
    expect(calls).toBe(1)
    await advance(499)
    expect(calls).toBe(1)
    await advance(1)
    expect(calls).toBe(2)
  })

  it('looks at least every 30 seconds, because the wall clock may step', async () => {
    let calls = 0
    const { loop, advance } = loopOf(async () => {
      calls++
      return 86_400_000
    })

    loop.start()
    await advance(0)
    await advance(30_000)

    expect(calls).toBe(2)
  })

  it('looks again when it is woken during its work', async () => {
    let calls = 0
    const { loop, advance } = loopOf(async () => {
      if (++calls === 1) loop.wake()
      return undefined
    })

    loop.start()
    await advance(0)
    await advance(0)

    expect(calls).toBe(2)
  })

  it('tries again after a failure, later every time', async () => {
    let calls = 0
    const { loop, advance } = loopOf(() => Promise.reject(new Error(`no ${++calls}`)))

    loop.start()
    await advance(0)
    await advance(999)
    expect(calls).toBe(1)
    await advance(1)
    expect(calls).toBe(2)
    await advance(1_999)
    expect(calls).toBe(2)
    await advance(1)
    expect(calls).toBe(3)
  })

  it('is failing after five failures in a row, and no longer once it has succeeded', async () => {
    let isBroken = true
    const { loop, advance } = loopOf(async () => {
      if (isBroken) throw new Error('no')
      return 1_000
    })

    loop.start()
    await advance(0)
    for (let tries = 1; tries < 5; tries++) {
      expect(loop.state()).toBe('running')
      await advance(60_000)
    }
    expect(loop.state()).toBe('failing')

    isBroken = false
    await advance(60_000)
    expect(loop.state()).toBe('running')
  })

  it('begins nothing more once it is stopped, and waits for what is under way', async () => {
    let calls = 0
    const going = Promise.withResolvers<number>()
    const { loop, advance } = loopOf(() => {
      calls++
      return going.promise
    })

    loop.start()
    await advance(0)
    let isStopped = false
    const stopping = loop.stop().then(() => {
      isStopped = true
    })
    await turns()
    expect(isStopped).toBe(false)
    going.resolve(0)
    await stopping
    loop.wake()
    await advance(60_000)

    expect([calls, loop.state()]).toEqual([1, 'stopped'])
  })
})
