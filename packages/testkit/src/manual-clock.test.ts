import { describe, expect, it } from 'vitest'
import { createManualClock } from './manual-clock.ts'

describe('createManualClock', () => {
  it('stands still until it is advanced', () => {
    const clock = createManualClock(1_000)

    expect([clock.now(), clock.monotonicMs()]).toEqual([1_000, 0])
    clock.advance(250)
    expect([clock.now(), clock.monotonicMs()]).toEqual([1_250, 250])
  })

  it('runs due timers in order of their due times, at those times', () => {
    const clock = createManualClock(0)
    const seen: [string, number][] = []
    const note = (name: string) => () => void seen.push([name, clock.monotonicMs()])
    clock.after(30, note('late'))
    clock.after(10, note('first of two'))
    clock.after(10, note('second of two'))
    clock.after(31, note('not yet'))

    clock.advance(30)

    expect(seen).toEqual([
      ['first of two', 10],
      ['second of two', 10],
      ['late', 30],
    ])
  })

  it('runs timers that a timer starts within the same advance', () => {
    const clock = createManualClock()
    const seen: number[] = []
    const tick = () => {
      seen.push(clock.monotonicMs())
      clock.after(10, tick)
    }
    clock.after(10, tick)

    clock.advance(35)

    expect(seen).toEqual([10, 20, 30])
  })

  it('runs each timer once, unless the timer is cancelled', () => {
    const clock = createManualClock()
    let runs = 0
    const cancelEarly = clock.after(5, () => runs++)
    const cancelLate = clock.after(5, () => runs++)
    cancelEarly()

    clock.advance(5)
    clock.advance(5)
    cancelLate()

    expect(runs).toBe(1)
  })

  it('sets the wall clock without affecting timers', () => {
    const clock = createManualClock(1_000)
    let runs = 0
    clock.after(10, () => runs++)

    clock.setWall(9_000)

    expect([clock.now(), clock.monotonicMs(), runs]).toEqual([9_000, 0, 0])
    clock.advance(10)
    expect([clock.now(), clock.monotonicMs(), runs]).toEqual([9_010, 10, 1])
  })

  it('refuses to move backwards', () => {
    expect(() => createManualClock().advance(-1)).toThrow(RangeError)
  })
})
