import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW } from '@perdure/ports'
import { aRun } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { eachRun } from './each-run.ts'

const idOf = (n: number) => `run_${String(n).padStart(4, '0')}`

async function storageOf(count: number) {
  const storage = createInMemoryStorage()
  const writes = Array.from({ length: count }, (_, n) => ({ type: 'run.insert', run: aRun({ id: idOf(n) }) }) as const)
  await storage.unitOfWork.commit(writes)
  return storage
}

describe('eachRun', () => {
  it.each([[0], [1], [200], [401]])('yields each of %i runs once, oldest first', async (count) => {
    const { runs } = await storageOf(count)
    const seen: string[] = []

    for await (const { id } of eachRun(runs, { statuses: ['queued'] })) seen.push(id)

    expect(seen).toEqual(Array.from({ length: count }, (_, n) => idOf(n)))
  })

  it('yields only matching runs', async () => {
    const { runs, unitOfWork } = await storageOf(2)
    await unitOfWork.commit([{ type: 'run.insert', run: aRun({ id: 'run_other', targetId: 'other' }) }])
    const seen: string[] = []

    for await (const { id } of eachRun(runs, { targetId: 'other' })) seen.push(id)

    expect(seen).toEqual(['run_other'])
  })

  it('yields every run once while the caller ends the yielded runs', async () => {
    const { runs, unitOfWork } = await storageOf(450)
    let count = 0

    for await (const { id } of eachRun(runs, { statuses: ['queued'] })) {
      count++
      await unitOfWork.commit([
        { type: 'run.transition', runId: id, from: ['queued'], attempt: 1, change: { status: 'aborted' } },
      ])
    }

    expect(count).toBe(450)
    expect((await runs.list({ statuses: ['queued'] }, { limit: 1, order: 'asc' }, EVERY_ROW)).items).toEqual([])
  })
})
