import { type AppError, EVERY_ROW, type Write } from '@perdure/ports'
import { anEvent, aRun, aSession } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createInMemoryStorage } from './in-memory-storage.ts'

describe('createInMemoryStorage', () => {
  it('has the epoch it is given, and otherwise one of its own', async () => {
    const epochOf = async (options?: { epoch: string }) => (await createInMemoryStorage(options).events.head()).epoch

    expect(await epochOf({ epoch: 'fixed' })).toBe('fixed')
    expect(await epochOf()).not.toBe(await epochOf())
  })

  it('applies a commit after the call has returned, in the order of the calls', async () => {
    const { unitOfWork, runs } = createInMemoryStorage()
    const first = unitOfWork.commit([{ type: 'run.insert', run: aRun({ owner: 'first' }) }])
    const second = unitOfWork.commit([{ type: 'run.insert', run: aRun({ owner: 'second' }) }])
    const early = runs.find(aRun().id, EVERY_ROW)

    expect(await early).toBeUndefined()
    expect([(await first).committed, (await second).committed]).toEqual([true, false])
  })

  it('takes its copy when commit is called', async () => {
    const { unitOfWork, runs } = createInMemoryStorage()
    const writes: Write[] = [{ type: 'run.insert', run: aRun() }]
    const outcome = unitOfWork.commit(writes)
    writes.pop()

    expect(await outcome).toMatchObject({ committed: true, counts: [1] })
    expect(await runs.find(aRun().id, EVERY_ROW)).toEqual(aRun())
  })

  it('hands out frozen records, nested ones included', async () => {
    const { unitOfWork, runs } = createInMemoryStorage()
    await unitOfWork.commit([{ type: 'run.insert', run: aRun({ metadata: { a: 'b' } }) }])
    const run = await runs.find(aRun().id, EVERY_ROW)

    expect([run, run?.metadata, run?.usage].every(Object.isFrozen)).toBe(true)
  })

  it('undoes a commit that throws half way', async () => {
    const { unitOfWork, runs, events } = createInMemoryStorage()
    const unknown = { type: 'run.unknown' } as unknown as Write
    const commit = unitOfWork.commit([
      { type: 'run.insert', run: aRun() },
      { type: 'event.append', events: [anEvent({ topic: 'topic' })] },
      unknown,
    ])

    await expect(commit).rejects.toThrow(TypeError)
    expect(await runs.find(aRun().id, EVERY_ROW)).toBeUndefined()
    expect((await events.head()).position).toBe(0)
  })

  it('refuses a cursor it did not make', async () => {
    const { unitOfWork, sessions } = createInMemoryStorage()
    await unitOfWork.commit([{ type: 'session.insert', session: aSession() }])

    for (const cursor of ['', 'x', '1', '.a', 'NaN.a']) {
      const list = sessions.list({ limit: 1, order: 'asc', cursor }, EVERY_ROW)
      await expect(list).rejects.toMatchObject({ id: 'validation-failed' } satisfies Partial<AppError>)
    }
  })
})
