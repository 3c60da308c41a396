import { createManualClock } from '@perdure/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createTestAdmission, lanesOf } from './admission.fixture.ts'
import type { Slot } from './admission.ts'

const parallel = { subject: 'alice', lanes: lanesOf(undefined), onBusy: 'queue' } as const

describe('createAdmission', () => {
  it('grants slots up to the concurrency limit and queues the rest', () => {
    const admission = createTestAdmission({ concurrency: 2, maxQueued: 10 })
    const slots = ['a', 'b', 'c', 'd'].map((runId) => admission.claim({ runId, ...parallel }))

    expect(slots.map((slot) => slot.isGranted())).toEqual([true, true, false, false])
    expect(slots.map((slot) => slot.position())).toEqual([undefined, undefined, 1, 2])
    slots[0]?.release()
    expect(slots.map((slot) => slot.position())).toEqual([undefined, undefined, undefined, 1])
  })

  it('rejects a claim on an occupied lane unless onBusy is queue', () => {
    const admission = createTestAdmission({ concurrency: 9, maxQueued: 9 })
    admission.claim({ runId: 'a', subject: 'alice', lanes: lanesOf('x'), onBusy: 'reject' })

    expect(() => admission.claim({ runId: 'b', subject: 'alice', lanes: lanesOf('x'), onBusy: 'reject' })).toThrow(
      'has no free slot',
    )
    expect(admission.claim({ runId: 'c', subject: 'alice', lanes: lanesOf('x'), onBusy: 'queue' }).isGranted()).toBe(
      false,
    )
    expect(admission.claim({ runId: 'd', subject: 'alice', lanes: lanesOf('y'), onBusy: 'reject' }).isGranted()).toBe(
      true,
    )
  })

  it('lists every run of a lane, the running one first', () => {
    const admission = createTestAdmission({ concurrency: 9, maxQueued: 9 })
    expect(admission.runsInLane({ name: 'x', limit: 1 })).toEqual([])
    const [first] = ['a', 'b', 'c'].map((runId) =>
      admission.claim({ runId, subject: 'alice', lanes: lanesOf('x'), onBusy: 'interrupt' }),
    )
    expect(admission.runsInLane({ name: 'x', limit: 1 })).toEqual(['a', 'b', 'c'])

    first?.release()

    expect(admission.runsInLane({ name: 'x', limit: 1 })).toEqual(['b', 'c'])
  })

  it('releases a waiting slot without affecting other slots', () => {
    const admission = createTestAdmission({ concurrency: 1, maxQueued: 9 })
    const [first, second, third] = ['a', 'b', 'c'].map((runId) => admission.claim({ runId, ...parallel })) as [
      Slot,
      Slot,
      Slot,
    ]

    second.release()
    second.release()
    expect(third.position()).toBe(1)
    first.release()
    expect(third.isGranted()).toBe(true)
  })

  it('starts a run of a rate limit that was queued before the time of the first start was known', () => {
    const clock = createManualClock()
    const admission = createTestAdmission({ concurrency: 9, maxQueued: 9 }, clock)
    const rate = { ...parallel, lanes: [{ name: 'rate', limit: 1, periodMs: 100 }] }
    const first = admission.claim({ runId: 'a', ...rate })
    const second = admission.claim({ runId: 'b', ...rate })

    first.started(clock.now())
    clock.advance(99)
    expect(second.isGranted()).toBe(false)
    clock.advance(1)

    expect(second.isGranted()).toBe(true)
  })

  it('grants no slot once closed', () => {
    const admission = createTestAdmission({ concurrency: 1, maxQueued: 9 })
    const first = admission.claim({ runId: 'a', ...parallel })
    const second = admission.claim({ runId: 'b', ...parallel })

    admission.close()
    first.release()

    expect(second.isGranted()).toBe(false)
  })

  it('never exceeds the limit, never shares a lane, keeps lane order and leaves no free slot unused', () => {
    const command = fc.oneof(
      fc.record({ kind: fc.constant('claim' as const), lane: fc.constantFrom(undefined, 'x', 'y') }),
      fc.record({ kind: fc.constant('release' as const), pick: fc.nat() }),
    )
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), (commands, concurrency) => {
        const admission = createTestAdmission({ concurrency, maxQueued: 1_000 })
        const present: { slot: Slot; lane: string | undefined }[] = []
        const granted: string[] = []
        let count = 0
        for (const one of commands) {
          if (one.kind === 'claim') {
            const runId = `${one.lane ?? '-'}${String(count++).padStart(4, '0')}`
            const slot = admission.claim({ runId, subject: 'alice', lanes: lanesOf(one.lane), onBusy: 'queue' })
            slot.whenGranted(() => granted.push(runId))
            present.push({ slot, lane: one.lane })
          } else {
            present.splice(one.pick % Math.max(1, present.length), 1)[0]?.slot.release()
          }
          const holding = present.filter(({ slot }) => slot.isGranted())
          expect(holding.length).toBeLessThanOrEqual(concurrency)
          for (const lane of ['x', 'y'])
            expect(holding.filter((held) => held.lane === lane).length).toBeLessThanOrEqual(1)
          const free = present.filter(
            ({ lane }) => !holding.some((held) => held.lane !== undefined && held.lane === lane),
          )
          if (holding.length < concurrency) expect(free.filter(({ slot }) => !slot.isGranted())).toEqual([])
        }
        for (const lane of ['x', 'y']) {
          const order = granted.filter((runId) => runId.startsWith(lane))
          expect(order).toEqual([...order].sort())
        }
      }),
    )
  })
})
