import { aRun } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createRunWaiters } from './run-waiters.ts'

const run = aRun({ status: 'completed' })

describe('createSettlements', () => {
  it('gives the run to everyone who waits for it, once', async () => {
    const runWaiters = createRunWaiters()
    const waiting = [runWaiters.wait(run.id), runWaiters.wait(run.id)]

    runWaiters.resolve(run, { detail: { waitingFor: [] } })
    runWaiters.resolve(aRun({ status: 'aborted' }))

    const settled = { run, detail: { waitingFor: [] } }
    expect(await Promise.all(waiting)).toEqual([settled, settled])
  })

  it('rejects everyone who waits for a run that is given up', async () => {
    const runWaiters = createRunWaiters()
    const waiting = [runWaiters.wait(run.id), runWaiters.wait(run.id)]

    runWaiters.reject(run.id, new Error('given up'))
    runWaiters.resolve(run)

    for (const one of waiting) await expect(one).rejects.toThrow('given up')
  })

  it('tells nothing of other runs, and nothing of what was over before', async () => {
    const runWaiters = createRunWaiters()
    runWaiters.resolve(run)
    runWaiters.reject('run_unknown', new Error('given up'))
    let isSettled = false
    const waiting = runWaiters.wait(run.id).then(() => {
      isSettled = true
    })

    runWaiters.resolve(aRun({ id: 'run_other' }))
    await Promise.resolve()
    expect(isSettled).toBe(false)
    runWaiters.resolve(run)
    await waiting
  })

  it('tells every observer of every outcome, waited for or not', () => {
    const runWaiters = createRunWaiters()
    const seen: string[] = []
    runWaiters.observe(({ status }) => seen.push(`first ${status}`))
    runWaiters.observe(({ status }) => seen.push(`second ${status}`))

    runWaiters.resolve(run)
    runWaiters.reject(run.id, new Error('given up'))

    expect(seen).toEqual(['first completed', 'second completed'])
  })
})
