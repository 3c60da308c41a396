import { setImmediate } from 'node:timers/promises'
import { type EpochMs, type StepRecord, toJsonText } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { createDeliveries, MICROTASKS_PER_OUTCOME } from './deliveries.ts'
import { createTurnSizes } from './turn-sizes.fixture.ts'

const completed = (seq: number): StepRecord => ({
  ...{ runId: 'run_1', seq, kind: 'step', name: `call ${seq}`, status: 'completed', attempt: 1, endOrder: seq },
  startedAt: 0 as EpochMs,
})

const quiet = {
  nextTurn: () => setImmediate(),
  readResult: async (step: StepRecord) => step,
  onIdle: () => undefined,
}

/** The order of events when branch 1 awaits this many microtasks between the outcome of its call and its next call. */
async function orderWith(microtasks: number): Promise<readonly string[]> {
  const order: string[] = []
  const { receive, drained } = createDeliveries([completed(1), completed(2)], quiet)
  const branches = [
    receive(1).then(async () => {
      for (let count = 0; count < microtasks; count++) await undefined
      order.push('next call of branch 1')
    }),
    receive(2).then(() => void order.push('outcome of branch 2')),
  ]
  await drained()
  await Promise.all(branches)
  return order
}

describe('a write of the code', () => {
  const heldBy = (write: Promise<unknown>) => {
    const order: string[] = []
    const { receive, holdFor, drained } = createDeliveries([completed(1), completed(2)], quiet)
    const branches = [
      receive(1).then(() => {
        holdFor(write)
        return write.then(
          () => order.push('write'),
          () => order.push('refused write'),
        )
      }),
      receive(2).then(() => void order.push('outcome')),
    ]
    return { order, holdFor, ended: Promise.all([drained(), ...branches]) }
  }

  it.each([
    ['stored', () => setImmediate(), 'write'],
    ['refused', () => setImmediate().then(() => Promise.reject(new Error('refused'))), 'refused write'],
  ] as const)('that is %s settles before the next outcome is delivered', async (_, write, settled) => {
    const { order, ended } = heldBy(write())
    await ended
    expect(order).toEqual([settled, 'outcome'])
  })

  it('and those that follow it settle before the next outcome, but not without end', async () => {
    const { promise: first, resolve } = Promise.withResolvers<void>()
    const { order, holdFor, ended } = heldBy(first)
    let count = 0
    const again = (): Promise<void> => {
      if (++count === 1_000) return Promise.resolve()
      const write = setImmediate()
      holdFor(write)
      return write.then(again)
    }
    const writes = first.then(again)
    resolve()
    await ended
    expect(order).toEqual(['write', 'outcome'])
    expect([count > 20, count < 100]).toEqual([true, true])
    await writes
  })
})

describe('createDeliveries', () => {
  // The delivery itself takes one microtask, so a branch that takes one microtask more than the limit is still in time.
  it.each([MICROTASKS_PER_OUTCOME - 1, MICROTASKS_PER_OUTCOME, MICROTASKS_PER_OUTCOME + 1])(
    'lets a branch that takes %i microtasks make its next call before the next outcome is delivered',
    async (microtasks) => {
      expect(await orderWith(microtasks)).toEqual(['next call of branch 1', 'outcome of branch 2'])
    },
  )

  it('delivers the next outcome before the next call of a branch that takes 34 microtasks', async () => {
    expect(MICROTASKS_PER_OUTCOME).toBe(32)
    expect(await orderWith(34)).toEqual(['outcome of branch 2', 'next call of branch 1'])
  })

  it('delivers at most 128 KiB of recorded results in one turn of the event loop, and 128 short ones', async () => {
    const result = toJsonText('x'.repeat(60_000))
    for (const [count, size, most] of [
      [40, 60_000, 3 * 60_000],
      [1_000, 1, 128],
    ] as const) {
      const steps = Array.from({ length: count }, (_, index) => completed(index + 1))
      const recorded = size === 1 ? steps : steps.map((step) => ({ ...step, result }))
      const turns = createTurnSizes()
      const { receive } = createDeliveries(recorded, quiet)

      for (const { seq } of recorded) {
        await receive(seq)
        turns.note(size)
      }

      const { largest, total } = turns.stop()
      expect(total).toBe(count * size)
      expect(largest).toBeLessThanOrEqual(most)
    }
  })

  it('delivers outcomes that are added late in the order in which they were recorded', async () => {
    const order: number[] = []
    const { receive, add, drained } = createDeliveries([completed(1), completed(4)], quiet)
    const received = [1, 2, 3, 4, 5].map((seq) => receive(seq).then((step) => void order.push(step.seq)))
    add({ ...completed(5), endOrder: undefined })
    add(completed(3))
    add(completed(2))

    await drained()
    await Promise.all(received)

    expect(order).toEqual([1, 2, 3, 4, 5])
  })
})
