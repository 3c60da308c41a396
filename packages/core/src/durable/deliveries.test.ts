import type { EpochMs, StepRecord } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { createDeliveries, MICROTASKS_PER_OUTCOME } from './deliveries.ts'

const completed = (seq: number): StepRecord => ({
  ...{ runId: 'run_1', seq, kind: 'step', name: `call ${seq}`, status: 'completed', attempt: 1, endOrder: seq },
  startedAt: 0 as EpochMs,
})

/** The order of events when branch 1 awaits this many microtasks between the outcome of its call and its next call. */
async function orderWith(microtasks: number): Promise<readonly string[]> {
  const order: string[] = []
  const { receive, drained } = createDeliveries([completed(1), completed(2)], () => undefined)
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
})
