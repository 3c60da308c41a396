import { describe, expect, it } from 'vitest'
import { createStartedServer, createTriggerServer, HOURLY } from './triggers.fixture.ts'

/** Two processes on one storage. */
async function startTwo() {
  const first = await createStartedServer()
  const { storage, clock, ids } = first
  const second = await createTriggerServer({ storage, clock, ids }).start()
  return { first, second }
}

describe('the limits of triggers', () => {
  it('hold for requests that two processes receive at the same time', async () => {
    const { first, second } = await startTwo()
    await first.create(HOURLY)
    const record = await first.storage.triggers.find('hourly')
    if (record === undefined) throw new Error('the trigger is missing')
    const more = Array.from({ length: 997 }, (_, n) => ({
      type: 'trigger.insert' as const,
      trigger: { ...record, id: `more-${n}`, dueAt: undefined, nextAt: undefined },
    }))
    await first.storage.unitOfWork.commit(more)

    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) => [first, second][n % 2]?.create({ ...HOURLY, id: `new-${n}` })),
    )

    const { active, disabled } = await first.storage.triggers.overview()
    expect(active + disabled).toBe(1_000)
    const refusals = outcomes.filter(({ status }) => status === 'rejected')
    expect(refusals).toHaveLength(8)
    for (const refusal of refusals) expect(refusal).toMatchObject({ reason: { code: 'validation-failed' } })
  })

  it('skip the fires above 100 that wait behind a run, also of events that two processes receive at the same time', async () => {
    const { first, second } = await startTwo()
    await first.create({ id: 'paid', kind: 'event', event: 'paid', overlap: 'queue', target: { agentId: 'held' } })
    await first.engine.emitEvent({ name: 'paid' })
    await first.untilIdle()
    for (let n = 0; n < 95; n++) await first.engine.emitEvent({ name: 'paid' })

    await Promise.all(Array.from({ length: 20 }, (_, n) => [first, second][n % 2]?.engine.emitEvent({ name: 'paid' })))

    const statuses = (await first.fires('paid')).map(({ status }) => status)
    const countOf = (status: string) => statuses.filter((one) => one === status).length
    expect([countOf('started'), countOf('pending'), countOf('skipped')]).toEqual([1, 100, 15])
  })
})
