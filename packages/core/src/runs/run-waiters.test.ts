import type { EpochMs } from '@perdure/ports'
import { aRun } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createRunWaiters } from './run-waiters.ts'

const run = aRun({ status: 'completed' })

describe('createRunWaiters', () => {
  it('resolves every waiter of a run with the first outcome', async () => {
    const runWaiters = createRunWaiters()
    const waiting = [runWaiters.wait(run.id), runWaiters.wait(run.id)]

    runWaiters.resolve(run, { detail: { waitingFor: [] } })
    runWaiters.resolve(aRun({ status: 'aborted' }))

    const outcome = { run, detail: { waitingFor: [] } }
    expect(await Promise.all(waiting)).toEqual([outcome, outcome])
  })

  it('rejects every waiter of a run, and ignores a later outcome', async () => {
    const runWaiters = createRunWaiters()
    const waiting = [runWaiters.wait(run.id), runWaiters.wait(run.id)]

    runWaiters.reject(run.id, new Error('given up'))
    runWaiters.resolve(run)

    for (const one of waiting) await expect(one).rejects.toThrow('given up')
  })

  it('ignores outcomes of other runs, and outcomes before the wait', async () => {
    const runWaiters = createRunWaiters()
    runWaiters.resolve(run)
    runWaiters.reject('run_unknown', new Error('given up'))
    let isResolved = false
    const waiting = runWaiters.wait(run.id).then(() => {
      isResolved = true
    })

    runWaiters.resolve(aRun({ id: 'run_other' }))
    await Promise.resolve()
    expect(isResolved).toBe(false)
    runWaiters.resolve(run)
    await waiting
  })

  it('notifies every observer of every outcome, with or without waiters', () => {
    const runWaiters = createRunWaiters()
    const seen: string[] = []
    runWaiters.observe(({ status }) => seen.push(`first ${status}`))
    runWaiters.observe(({ status }) => seen.push(`second ${status}`))

    runWaiters.resolve(run)
    runWaiters.reject(run.id, new Error('given up'))

    expect(seen).toEqual(['first completed', 'second completed'])
  })

  it('keeps a caller waiting that resumes a suspension, when this suspension is read from the storage', async () => {
    const runWaiters = createRunWaiters()
    const suspended = aRun({ status: 'suspended', suspendedAt: 5 as EpochMs })
    const waiting = runWaiters.wait(run.id, { suspendedAt: suspended.suspendedAt })

    runWaiters.resolveFromStorage(suspended)
    expect(runWaiters.awaited()).toEqual([run.id])
    const later = { ...suspended, suspendedAt: 6 as EpochMs }
    runWaiters.resolveFromStorage(later)

    expect(await waiting).toMatchObject({ run: later })
    expect(runWaiters.isAwaited(run.id)).toBe(false)
  })

  it('does not call the observers for an outcome that was read from the storage', () => {
    const runWaiters = createRunWaiters()
    const seen: string[] = []
    runWaiters.observe(({ status }) => seen.push(status))

    runWaiters.resolveFromStorage(run)

    expect(seen).toEqual([])
  })

  it('forgets a waiter that gives up', () => {
    const runWaiters = createRunWaiters()
    const giveUp = new AbortController()
    runWaiters.wait(run.id)
    runWaiters.wait(run.id, { signal: giveUp.signal })

    giveUp.abort()
    expect(runWaiters.isAwaited(run.id)).toBe(true)
    runWaiters.resolve(run)

    expect(runWaiters.isAwaited(run.id)).toBe(false)
  })
})
