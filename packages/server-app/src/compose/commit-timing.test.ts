import { createInMemoryMeter } from '@perdure/in-memory'
import type { Clock, EpochMs } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { withCommitTiming } from './commit-timing.ts'

const OUTCOME = { committed: true, events: [], counts: [] } as const

/** A clock that advances by 250 ms on every read. */
function createSteppingClock(): Clock {
  let readMs = 0
  const next = () => {
    readMs += 250
    return readMs
  }
  return { now: () => next() as EpochMs, monotonicMs: next }
}

describe('withCommitTiming', () => {
  it('measures both successful and failed commits', async () => {
    const meter = createInMemoryMeter()
    const clock = createSteppingClock()
    const working = withCommitTiming({ commit: async () => OUTCOME }, { clock, meter })
    const full = withCommitTiming({ commit: () => Promise.reject(new Error('full')) }, { clock, meter })

    expect(await working.commit([])).toBe(OUTCOME)
    await expect(full.commit([])).rejects.toThrow('full')

    expect(meter.values.get('svc_storage_commit_duration_seconds_count')).toBe(2)
    expect(meter.values.get('svc_storage_commit_duration_seconds_sum')).toBe(0.5)
  })
})
