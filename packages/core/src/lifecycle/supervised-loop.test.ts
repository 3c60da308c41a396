import { type Duty, perdureError } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../engine/test-engine.fixture.ts'
import { createSupervisedLoop } from './supervised-loop.ts'

const flushPromises = () => new Promise<void>((resolve) => setImmediate(resolve))

function loopOf(work: () => Promise<number | undefined>) {
  const clock = createManualClock()
  const loop = createSupervisedLoop({ clock, timers: clock, logger: silentLogger }, { name: 'work', work })
  return {
    loop,
    async advance(ms: number) {
      clock.advance(ms)
      await flushPromises()
    },
  }
}

describe('createSupervisedLoop', () => {
  it('works only while the process holds its duty, and notices within a second that it holds it', async () => {
    const clock = createManualClock()
    const duties: Duty[] = []
    let isHeld = false
    let calls = 0
    const isMine = (duty: Duty) => {
      duties.push(duty)
      return isHeld
    }
    const work = async () => {
      calls++
      return 10
    }
    const deps = { clock, timers: clock, logger: silentLogger, isMine }
    const loop = createSupervisedLoop(deps, { name: 'work', duty: 'retention', work })
    const free = createSupervisedLoop(deps, { name: 'free', work: async () => 500 })
    const advance = async (ms: number) => {
      clock.advance(ms)
      await flushPromises()
    }
    loop.start()
    free.start()
    await advance(0)
    loop.wake()
    await advance(0)
    expect([calls, loop.state()]).toEqual([0, 'running'])

    isHeld = true
    await advance(1_000)
    expect(calls).toBe(1)
    await advance(10)
    expect(calls).toBe(2)

    isHeld = false
    await advance(10)
    await advance(10)
    expect(calls).toBe(2)
    expect(new Set(duties)).toEqual(new Set(['retention']))
  })

  it('watches the work of another process every 30 seconds, even after a failure', async () => {
    const clock = createManualClock()
    let watched = 0
    let worked = 0
    const loop = createSupervisedLoop(
      { clock, timers: clock, logger: silentLogger, isMine: () => worked > 0 || watched > 2 },
      {
        ...{ name: 'work', duty: 'triggers' },
        work: async () => {
          worked++
          return 1_000
        },
        watch: async () => {
          watched++
          if (watched === 1) throw new Error('no')
        },
      },
    )
    loop.start()
    const counts: number[] = []
    for (let second = 0; second <= 70; second++) {
      clock.advance(second === 0 ? 0 : 1_000)
      await flushPromises()
      counts.push(watched)
    }

    expect([counts[0], counts[29], counts[30], counts[59], counts[60], counts[70]]).toEqual([1, 1, 2, 2, 3, 3])
    expect([worked > 0, loop.state()]).toEqual([true, 'running'])
  })

  it('calls the work at start and again after the returned delay', async () => {
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

  it('calls the work at least every 30 seconds, because the wall clock may be adjusted', async () => {
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

  it('calls the work again if it is woken during a call', async () => {
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

  it('retries after a failure with growing delays', async () => {
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

  it('works within two seconds after an outage of the storage, however long it was, and logs it once a minute', async () => {
    let isDown = true
    let calls = 0
    const errors: string[] = []
    const clock = createManualClock()
    const logger = { ...silentLogger, error: (message: string) => void errors.push(message) }
    const work = async () => {
      calls++
      if (isDown) throw perdureError('storage-unavailable')
      return 1_000
    }
    const loop = createSupervisedLoop({ clock, timers: clock, logger }, { name: 'work', work })
    loop.start()
    const advance = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 500) {
        clock.advance(500)
        await flushPromises()
      }
    }
    await advance(180_000)
    expect(errors.length).toBeGreaterThanOrEqual(3)
    expect(errors.length).toBeLessThanOrEqual(6)
    isDown = false
    const before = calls
    await advance(2_000)
    expect(calls).toBeGreaterThan(before)
  })

  it('reports failing after five consecutive failures, until the work succeeds', async () => {
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

  it('waits for the call in progress when it is stopped, and makes no further call', async () => {
    let calls = 0
    const running = Promise.withResolvers<number>()
    const { loop, advance } = loopOf(() => {
      calls++
      return running.promise
    })

    loop.start()
    await advance(0)
    let isStopped = false
    const stopping = loop.stop().then(() => {
      isStopped = true
    })
    await flushPromises()
    expect(isStopped).toBe(false)
    running.resolve(0)
    await stopping
    loop.wake()
    await advance(60_000)

    expect([calls, loop.state()]).toEqual([1, 'stopped'])
  })
})
