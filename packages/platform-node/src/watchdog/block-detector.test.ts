import { describe, expect, it } from 'vitest'
import { type BlockLimits, CHECK_MS, createBlockDetector } from './block-detector.ts'

const LIMITS: BlockLimits = { reportAfterMs: 5_000, stopBudgetMs: 35_000, forcedStopMs: 2_000 }

/** A detector whose checks happen on time, and an event loop that turns until `block`. */
function setUp(limits: Partial<BlockLimits> = {}) {
  const detector = createBlockDetector({ ...LIMITS, ...limits })
  let nowMs = 0
  let beats = 0
  let isBlocked = false
  let isDebugged = false
  const check = () => {
    if (!isBlocked) beats++
    return detector.check(nowMs, { beats, isDebugged })
  }
  check()
  /** Checks for `ms` and returns what happened: when, on the test's clock. */
  const pass = (ms: number) => {
    const happened: string[] = []
    for (const endMs = nowMs + ms; nowMs < endMs; ) {
      nowMs += CHECK_MS
      const { isNew, end } = check()
      if (isNew) happened.push(`reported at ${nowMs}`)
      if (end !== undefined) return [...happened, `${end} at ${nowMs}`]
    }
    return happened
  }
  return {
    pass,
    block() {
      isBlocked = true
    },
    unblock() {
      isBlocked = false
    },
    debug() {
      isDebugged = true
    },
    signal: () => detector.onSignal(nowMs),
    stopWithin: (ms: number) => detector.stopWithin(nowMs, ms),
    /** Time passes in which neither the event loop nor the detector runs. */
    suspend(ms: number) {
      nowMs += ms
    },
  }
}

describe('createBlockDetector', () => {
  it('reports nothing while the event loop turns', () => {
    expect(setUp({ maxBlockMs: 1_000 }).pass(60_000)).toEqual([])
  })

  it('reports a blocked event loop once, after five seconds', () => {
    const { pass, block } = setUp()
    block()

    expect(pass(4_500)).toEqual([])
    expect(pass(60_000)).toEqual(['reported at 5000'])
  })

  it('reports each block', () => {
    const { pass, block, unblock } = setUp()
    block()
    expect(pass(6_000)).toEqual(['reported at 5000'])
    unblock()
    expect(pass(500)).toEqual([])
    block()

    expect(pass(6_000)).toEqual(['reported at 11500'])
  })

  it('does not add up short blocks', () => {
    const { pass, block, unblock } = setUp()
    for (let n = 0; n < 10; n++) {
      block()
      expect(pass(3_000)).toEqual([])
      unblock()
      expect(pass(500)).toEqual([])
    }
  })

  it('does not count the time in which it was suspended itself', () => {
    const { pass, block, suspend } = setUp({ maxBlockMs: 3_000 })
    block()
    suspend(3_600_000)

    expect(pass(1_500)).toEqual([])
  })

  it('reports nothing while a debugger is attached', () => {
    const { pass, block, debug, signal } = setUp({ maxBlockMs: 1_000 })
    block()
    debug()
    signal()

    expect(pass(60_000)).toEqual([])
  })

  it('ends the process after maxBlockMs', () => {
    const { pass, block } = setUp({ maxBlockMs: 8_000 })
    block()

    expect(pass(60_000)).toEqual(['reported at 5000', 'max-block at 8000'])
  })

  it('ends a blocked process when the time for stopping is used up', () => {
    const { pass, block, signal } = setUp()
    block()
    signal()

    expect(pass(60_000)).toEqual(['reported at 5000', 'stop-timeout at 34500'])
  })

  it('ends a blocked process two seconds after the second signal', () => {
    const { pass, block, signal } = setUp()
    block()
    signal()
    pass(1_000)
    signal()

    expect(pass(60_000)).toEqual(['reported at 2500', 'stop-timeout at 2500'])
  })

  it('counts a repeated signal once', () => {
    const { pass, block, signal } = setUp()
    block()
    signal()
    signal()

    expect(pass(60_000).at(-1)).toBe('stop-timeout at 34500')
  })

  it('ends a process that was told to stop and is blocked later', () => {
    const { pass, block, stopWithin } = setUp()
    stopWithin(10_000)
    expect(pass(20_000)).toEqual([])
    block()

    expect(pass(60_000)).toEqual(['reported at 21000', 'stop-timeout at 21000'])
  })

  it('leaves a process alone whose event loop turns, however long it takes to stop', () => {
    const { pass, signal } = setUp()
    signal()

    expect(pass(120_000)).toEqual([])
  })
})
