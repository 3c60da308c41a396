import { aRun } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createSettlements } from './run-waiters.ts'

const run = aRun({ status: 'completed' })

describe('createSettlements', () => {
  it('gives the run to everyone who waits for it, once', async () => {
    const settlements = createSettlements()
    const waiting = [settlements.wait(run.id), settlements.wait(run.id)]

    settlements.settle(run, { detail: { waitingFor: [] } })
    settlements.settle(aRun({ status: 'aborted' }))

    const settled = { run, detail: { waitingFor: [] } }
    expect(await Promise.all(waiting)).toEqual([settled, settled])
  })

  it('rejects everyone who waits for a run that is given up', async () => {
    const settlements = createSettlements()
    const waiting = [settlements.wait(run.id), settlements.wait(run.id)]

    settlements.giveUp(run.id, new Error('given up'))
    settlements.settle(run)

    for (const one of waiting) await expect(one).rejects.toThrow('given up')
  })

  it('tells nothing of other runs, and nothing of what was over before', async () => {
    const settlements = createSettlements()
    settlements.settle(run)
    settlements.giveUp('run_unknown', new Error('given up'))
    let isSettled = false
    const waiting = settlements.wait(run.id).then(() => {
      isSettled = true
    })

    settlements.settle(aRun({ id: 'run_other' }))
    await Promise.resolve()
    expect(isSettled).toBe(false)
    settlements.settle(run)
    await waiting
  })

  it('tells every observer of every outcome, waited for or not', () => {
    const settlements = createSettlements()
    const seen: string[] = []
    settlements.observe(({ status }) => seen.push(`first ${status}`))
    settlements.observe(({ status }) => seen.push(`second ${status}`))

    settlements.settle(run)
    settlements.giveUp(run.id, new Error('given up'))

    expect(seen).toEqual(['first completed', 'second completed'])
  })
})
