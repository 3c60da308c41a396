import type { EpochMs } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createTestAdmission, type ManualClock } from './admission.fixture.ts'
import type { Slot } from './admission.ts'
import type { Lane } from './lane.ts'

const SLOTS = 3
const PERIOD_MS = 100

const LANES = {
  none: [],
  one: [{ name: 'one', limit: 1 }],
  two: [{ name: 'two', limit: 2 }],
  rate: [{ name: 'rate', limit: 2, periodMs: PERIOD_MS }],
  both: [
    { name: 'one', limit: 1 },
    { name: 'rate', limit: 2, periodMs: PERIOD_MS },
  ],
} as const satisfies Record<string, readonly Lane[]>

interface Waiting {
  readonly runId: string
  readonly lanes: readonly Lane[]
  readonly rank: number
}

/** The rules as plain lists: the waiting run with the lowest rank whose lanes all have room is next. */
function createOracle(clock: ManualClock) {
  let waiting: Waiting[] = []
  let held: Waiting[] = []
  const starts: { readonly lane: string; readonly at: number }[] = []
  const granted: string[] = []
  const isFree = ({ name, limit, periodMs }: Lane) =>
    periodMs === undefined
      ? held.filter(({ lanes }) => lanes.some((lane) => lane.name === name)).length < limit
      : starts.filter(({ lane, at }) => lane === name && at > clock.now() - periodMs).length < limit
  const grant = () => {
    for (;;) {
      const next = waiting.filter(({ lanes }) => lanes.every(isFree)).sort((one, other) => one.rank - other.rank)[0]
      if (next === undefined || held.length >= SLOTS) return
      waiting = waiting.filter((run) => run !== next)
      held = [...held, next]
      granted.push(next.runId)
      for (const { name } of next.lanes) starts.push({ lane: name, at: clock.now() })
    }
  }
  return {
    granted,
    waiting: () => waiting,
    claim(run: Waiting) {
      waiting = [...waiting, run]
      grant()
    },
    release(runId: string) {
      waiting = waiting.filter((run) => run.runId !== runId)
      held = held.filter((run) => run.runId !== runId)
      grant()
    },
    grant,
    /** How long until the next slot of a rate limit is free. */
    nextFreeMs: () => Math.min(...starts.map(({ at }) => at + PERIOD_MS - clock.now()).filter((leftMs) => leftMs > 0)),
  }
}

const COMMAND = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('claim' as const),
      lanes: fc.constantFrom(...(Object.keys(LANES) as (keyof typeof LANES)[])),
      priority: fc.constantFrom(0, 0, 0, 1, 50, 100, -100),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const), pick: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(1, 20, 99, 100, 20_000) }),
  },
)

describe('admission with limits, rates and priorities', () => {
  it('grants in the order of an oracle and leaves no run waiting that may start', () => {
    fc.assert(
      fc.property(fc.array(COMMAND, { maxLength: 80 }), (commands) => {
        const clock = createManualClock()
        const admission = createTestAdmission({ concurrency: SLOTS, maxQueued: 1_000 }, clock)
        const oracle = createOracle(clock)
        const present: { readonly runId: string; readonly slot: Slot }[] = []
        const granted: string[] = []
        let count = 0
        for (const command of commands) {
          if (command.kind === 'claim') {
            const runId = `run-${count++}`
            const lanes = LANES[command.lanes]
            const { priority } = command
            oracle.claim({ runId, lanes, rank: clock.now() - priority * 10_000 })
            const slot = admission.claim({ ...{ runId, subject: 'alice', lanes, priority }, onBusy: 'queue' })
            present.push({ runId, slot })
            slot.whenGranted(() => {
              granted.push(runId)
              slot.started(clock.now())
            })
          } else if (command.kind === 'release') {
            const [one] = present.splice(command.pick % Math.max(1, present.length), 1)
            if (one === undefined) continue
            oracle.release(one.runId)
            one.slot.release()
          } else {
            for (let left: number = command.ms; left > 0; ) {
              const stepMs = Math.min(left, oracle.nextFreeMs())
              clock.advance(stepMs)
              oracle.grant()
              left -= stepMs
            }
          }
          expect(granted).toEqual(oracle.granted)
        }
        expect(present.filter(({ slot }) => !slot.isGranted()).map(({ runId }) => runId)).toEqual(
          oracle.waiting().map(({ runId }) => runId),
        )
      }),
      { numRuns: 1_000 },
    )
  })

  it('never starts more than the limit in any period, whatever the order of grants and starts', () => {
    const delays = fc.array(fc.nat({ max: 150 }), { minLength: 5, maxLength: 40 })
    fc.assert(
      fc.property(delays, fc.integer({ min: 1, max: 4 }), (waits, limit) => {
        const clock = createManualClock()
        const admission = createTestAdmission({ concurrency: 50, maxQueued: 1_000 }, clock)
        const lanes = [{ name: 'rate', limit, periodMs: PERIOD_MS }]
        const starts: number[] = []
        const ended: EpochMs[] = []
        for (const [index, wait] of waits.entries()) {
          const slot = admission.claim({ runId: `run-${index}`, subject: 'alice', lanes, onBusy: 'queue' })
          slot.whenGranted(() => {
            starts.push(clock.now())
            slot.started(clock.now())
            clock.after(wait, () => {
              ended.push(clock.now())
              slot.release()
            })
          })
          clock.advance(wait)
        }
        clock.advance(PERIOD_MS * waits.length)

        expect([starts.length, ended.length]).toEqual([waits.length, waits.length])
        for (const at of starts) {
          expect(starts.filter((other) => other > at - PERIOD_MS && other <= at).length).toBeLessThanOrEqual(limit)
        }
      }),
    )
  })

  it('takes queued runs of 1,000 keys without scanning them', () => {
    const clock = createManualClock()
    const admission = createTestAdmission({ concurrency: 64, maxQueued: 1_000_000 }, clock)
    const executing: Slot[] = []
    const startedAt = performance.now()
    for (let index = 0; index < 50_000; index++) {
      const lanes = [{ name: `key-${index % 1_000}`, limit: 1 }]
      const slot = admission.claim({ runId: `run-${index}`, subject: 'alice', lanes, onBusy: 'queue' })
      slot.whenGranted(() => executing.push(slot))
    }
    let ended = 0
    for (let slot = executing.shift(); slot !== undefined; slot = executing.shift()) {
      slot.release()
      ended++
    }

    expect(ended).toBe(50_000)
    // A scan of the keys for each run would take many times longer; the bound only catches a hang.
    expect(performance.now() - startedAt).toBeLessThan(20_000)
  })
})
