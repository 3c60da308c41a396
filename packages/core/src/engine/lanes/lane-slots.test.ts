import { plusMs } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createLaneSlots } from './lane-slots.ts'

describe('createLaneSlots', () => {
  it('drops lanes whose slots are free again, whether or not they are used again', () => {
    const clock = createManualClock()
    const slots = createLaneSlots(clock.now)
    for (let index = 0; index < 1_000; index++) {
      const lane = { name: `key-${index}`, limit: 1, periodMs: 10 }
      const slot = slots.take(lane, `run-${index}`)
      slots.keepUntil(lane, slot, plusMs(clock.now(), 10))
      clock.advance(1)
    }

    expect(slots.size()).toBeLessThan(50)
  })

  it('frees the slots of a lane in the order of their times after the clock was set back', () => {
    const clock = createManualClock()
    const slots = createLaneSlots(clock.now)
    const lane = { name: 'rate', limit: 2, periodMs: 100 }
    const start = (run: string) => slots.keepUntil(lane, slots.take(lane, run), plusMs(clock.now(), 100))
    start('ahead')
    clock.setWall(clock.now() - 50_000)
    start('now')
    expect(slots.hasFree(lane)).toBe(false)

    clock.advance(100)

    expect(slots.hasFree(lane)).toBe(true)
  })
})
