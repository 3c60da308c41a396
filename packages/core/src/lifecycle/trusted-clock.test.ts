import { createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { CONFIRM_STEP_MS, createTrustedClock } from './trusted-clock.ts'

const HOUR = 3_600_000
const YEAR = 365 * 24 * HOUR
const STEPS = [25 * HOUR, -25 * HOUR, 10 * YEAR, -10 * YEAR]

function setUp(isRight = () => true) {
  const machine = createManualClock()
  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message) }
  const clock = createTrustedClock({ clock: machine, logger, isRight })
  return { machine, clock, warnings, step: (ms: number) => machine.setWall(machine.now() + ms) }
}

describe('createTrustedClock', () => {
  it('tells the time of the machine, which drifts and is corrected by up to two seconds', () => {
    const { machine, clock, step, warnings } = setUp()
    for (const ms of [1, 1_000, -1_000, 2_000, -2_000]) {
      step(ms)
      machine.advance(10)
      expect(clock.now()).toBe(machine.now())
    }
    expect([clock.distrustedMs(), warnings]).toEqual([0, []])
  })

  it.each(STEPS)('follows the monotonic clock after a step of %d ms, until the step has lasted for a minute', (ms) => {
    const { machine, clock, step, warnings } = setUp()
    const before = clock.now()
    step(ms)

    expect(clock.now()).toBe(before)
    machine.advance(CONFIRM_STEP_MS - 1)
    expect(clock.now()).toBe(before + CONFIRM_STEP_MS - 1)
    expect(clock.distrustedMs()).toBe(ms)
    expect(warnings).toHaveLength(1)
    machine.advance(1)
    expect(clock.now()).toBe(machine.now())
    expect(clock.distrustedMs()).toBe(0)
  })

  it('starts the minute again after another step, and ends it when the clock is right again', () => {
    const { machine, clock, step } = setUp()
    step(25 * HOUR)
    clock.now()
    machine.advance(CONFIRM_STEP_MS - 1)
    step(HOUR)
    const before = clock.now()
    machine.advance(CONFIRM_STEP_MS - 1)
    expect(clock.now()).toBe(before + CONFIRM_STEP_MS - 1)

    step(-26 * HOUR)
    expect([clock.now(), clock.distrustedMs()]).toEqual([machine.now(), 0])
  })

  it('never follows a clock that differs from the clock of the storage', () => {
    let isRight = false
    const { machine, clock, step } = setUp(() => isRight)
    const before = clock.now()
    step(25 * HOUR)
    clock.now()
    machine.advance(10 * CONFIRM_STEP_MS)
    expect(clock.now()).toBe(before + 10 * CONFIRM_STEP_MS)

    isRight = true
    expect(clock.now()).toBe(machine.now())
  })
})
