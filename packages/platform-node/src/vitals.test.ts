import { afterEach, describe, expect, it } from 'vitest'
import { openVitals, type Vitals } from './vitals.ts'

let vitals: Vitals | undefined
afterEach(() => vitals?.close())

const blockFor = (ms: number) => {
  const end = performance.now() + ms
  while (performance.now() < end);
}

const timersHaveRun = () => new Promise((resolve) => setTimeout(resolve, 30))

describe('openVitals', () => {
  it('reports how late timers fired while the event loop was blocked', async () => {
    const watched = openVitals()
    vitals = watched
    const blocked = async () => {
      await timersHaveRun()
      blockFor(60)
      await timersHaveRun()
      return watched.eventLoopDelaySeconds()
    }

    await expect.poll(blocked).toBeGreaterThan(0.03)
  })

  it('reports no delay when nothing was measured since the last call', () => {
    vitals = openVitals()
    vitals.eventLoopDelaySeconds()

    expect(vitals.eventLoopDelaySeconds()).toBe(0)
  })

  it('reads the resident memory', () => {
    vitals = openVitals()

    expect(vitals.residentMemoryBytes()).toBeGreaterThan(10_000_000)
  })
})
