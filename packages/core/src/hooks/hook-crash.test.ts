import { createInMemoryStorage } from '@perdure/in-memory'
import type { UnitOfWork } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { startHookServer } from './hooks.fixture.ts'

type Moment = 'before' | 'after'

/** A storage whose process crashes at the given commit: before the commit is durable, or right after. */
function crashingAt(unitOfWork: UnitOfWork, commits: number, moment: Moment) {
  let left = commits
  const hasCrashed = () => left <= 0
  const crashing: UnitOfWork = {
    async commit(writes) {
      if (hasCrashed()) throw new Error('the process has crashed')
      left -= 1
      if (!hasCrashed()) return unitOfWork.commit(writes)
      if (moment === 'after') await unitOfWork.commit(writes)
      throw new Error('the process crashes')
    },
  }
  return { crashing, hasCrashed }
}

const IDS = ['d-1', 'd-2', 'd-3']

/** Sends three deliveries to a process that crashes, then repeats those without an answer to the next process. */
async function sendOverCrash(commits: number, moment: Moment) {
  const storage = createInMemoryStorage()
  const world = { clock: createManualClock(), ids: createSequenceIds() }
  const before = await startHookServer({ storage, ...world })
  await before.stop()
  const { crashing, hasCrashed } = crashingAt(storage.unitOfWork, commits, moment)
  const broken = { ...storage, unitOfWork: crashing }
  const first = await startHookServer({ storage: broken, ...world }).catch(() => undefined)
  const answered = new Set<string>()
  for (const id of IDS) {
    await first?.receive({ id }, { 'x-delivery': id }).then(
      () => answered.add(id),
      () => undefined,
    )
    await first?.untilIdle()
  }
  await first?.stop()
  const second = await startHookServer({ storage, ...world })
  for (const id of IDS) if (!answered.has(id)) await second.receive({ id }, { 'x-delivery': id })
  await second.untilIdle()
  await second.advance(60_000)
  return { hasCrashed: hasCrashed(), second }
}

describe.each(['before', 'after'] as const)('a hook whose process crashes %s any commit', (moment) => {
  it('handles each delivery that its sender repeats until it is answered exactly once', async () => {
    for (let commits = 1, isOver = false; !isOver; commits++) {
      const { hasCrashed, second } = await sendOverCrash(commits, moment)
      isOver = !hasCrashed

      const runs = await second.runs()
      const fires = await second.fires('hook-shop')
      const deliveries = await second.deliveries()
      expect(deliveries.map(({ deliveryId }) => deliveryId).toSorted(), `commit ${commits}`).toEqual(IDS)
      expect(fires.map(({ id }) => id).toSorted()).toEqual(deliveries.flatMap(({ fireIds }) => fireIds).toSorted())
      expect(runs.map(({ id }) => id).toSorted()).toEqual(fires.map(({ runId }) => runId).toSorted())
      expect(runs.map(({ input }) => input).toSorted()).toEqual(IDS.map((id) => JSON.stringify({ id })))
    }
  })
})
