import { EVERY_ROW, type Refusal, type Write } from '@perdure/ports'
import { anEvent, aRun, aSession } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createInMemoryStorage } from './in-memory-storage.ts'

describe('createInMemoryStorage', () => {
  it('uses the given epoch, or a random one', async () => {
    const epochOf = async (options?: { epoch: string }) => (await createInMemoryStorage(options).events.head()).epoch

    expect(await epochOf({ epoch: 'fixed' })).toBe('fixed')
    expect(await epochOf()).not.toBe(await epochOf())
  })

  it('applies commits after the call returns, in call order', async () => {
    const { unitOfWork, runs } = createInMemoryStorage()
    const first = unitOfWork.commit([{ type: 'run.insert', run: aRun({ owner: 'first' }) }])
    const second = unitOfWork.commit([{ type: 'run.insert', run: aRun({ owner: 'second' }) }])
    const early = runs.find(aRun().id, EVERY_ROW)

    expect(await early).toBeUndefined()
    expect([(await first).committed, (await second).committed]).toEqual([true, false])
  })

  it('copies the writes when commit is called', async () => {
    const { unitOfWork, runs } = createInMemoryStorage()
    const writes: Write[] = [{ type: 'run.insert', run: aRun() }]
    const outcome = unitOfWork.commit(writes)
    writes.pop()

    expect(await outcome).toMatchObject({ committed: true, counts: [1] })
    expect(await runs.find(aRun().id, EVERY_ROW)).toEqual(aRun())
  })

  it('returns deeply frozen records', async () => {
    const { unitOfWork, runs } = createInMemoryStorage()
    await unitOfWork.commit([{ type: 'run.insert', run: aRun({ metadata: { a: 'b' } }) }])
    const run = await runs.find(aRun().id, EVERY_ROW)

    expect([run, run?.metadata, run?.usage].every(Object.isFrozen)).toBe(true)
  })

  it('rolls back a commit that throws midway', async () => {
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

  it('refuses a cursor that it did not create', async () => {
    const { unitOfWork, sessions } = createInMemoryStorage()
    await unitOfWork.commit([{ type: 'session.insert', session: aSession() }])

    for (const cursor of ['', 'x', '1', '.a', 'NaN.a']) {
      const list = sessions.list({}, { limit: 1, order: 'asc', cursor }, EVERY_ROW)
      await expect(list).rejects.toMatchObject({ code: 'validation-failed' } satisfies Partial<Refusal>)
    }
  })
})
