import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type Storage } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createTriggerServer } from './triggers.fixture.ts'

const HOUR = 3_600_000

/** A storage whose process crashes at the given commit: before the commit is durable, or right after. */
function crashingAt(storage: Storage, commits: number, moment: 'before' | 'after') {
  let left = commits
  const hasCrashed = () => left <= 0
  const unitOfWork: Storage['unitOfWork'] = {
    async commit(writes) {
      if (hasCrashed()) throw new Error('the process has crashed')
      left--
      if (!hasCrashed()) return storage.unitOfWork.commit(writes)
      if (moment === 'after') await storage.unitOfWork.commit(writes)
      throw new Error('the process crashes')
    },
  }
  return { storage: { ...storage, unitOfWork }, hasCrashed }
}

/** Runs for three hours with a crash at the given commit, then restarts and catches up. */
async function runWithCrash(commits: number, moment: 'before' | 'after', overlap: 'queue' | 'allow') {
  const environment = { clock: createManualClock(), ids: createSequenceIds() }
  const storage = createInMemoryStorage()
  const target = { agentId: 'echo' }
  const first = await createTriggerServer({ storage, ...environment }).start()
  await first.create({ id: 'hourly', kind: 'cron', cron: '0 * * * *', catchUp: 'all', overlap, target })
  await first.create({ id: 'paid', kind: 'event', event: 'paid', overlap, target })
  await first.stop()

  const crashing = crashingAt(storage, commits, moment)
  const second = await createTriggerServer({ storage: crashing.storage, ...environment }).start()
  const emitted: string[] = []
  for (let hour = 0; hour < 3 && !crashing.hasCrashed(); hour++) {
    await second.advance(HOUR)
    await second.engine.emitEvent({ name: 'paid', payload: hour }).then(
      ({ body }) => void emitted.push(...(body as { fireIds: string[] }).fireIds),
      () => undefined,
    )
  }
  await second.stop()
  environment.clock.advance(Math.max(0, Date.UTC(2025, 0, 1, 4) - environment.clock.now()))
  const third = await createTriggerServer({ storage, ...environment }).start()
  await third.advance(1_000)
  return { hasCrashed: crashing.hasCrashed(), storage, emitted, third }
}

describe.each(['before', 'after'] as const)('the trigger daemon after a crash %s any commit', (moment) => {
  it.each(['allow', 'queue'] as const)('neither loses nor repeats a fire (overlap %s)', async (overlap) => {
    let commits = 1
    let isOver = false
    for (; !isOver; commits++) {
      const { hasCrashed, storage, emitted, third } = await runWithCrash(commits, moment, overlap)
      isOver = !hasCrashed

      const runs = (await storage.runs.list({}, { limit: 200, order: 'asc' }, EVERY_ROW)).items
      const hours = runs.filter(({ triggerId }) => triggerId === 'hourly').map(({ metadata }) => metadata.scheduledAt)
      expect(hours.toSorted(), `commit ${commits}`).toEqual(
        [1, 2, 3, 4].map((hour) => `2025-01-01T0${hour}:00:00.000Z`),
      )
      const fires = [...(await third.fires('hourly')), ...(await third.fires('paid'))]
      expect(fires.every(({ status }) => status === 'completed' || status === 'failed')).toBe(true)
      expect(fires.map(({ runId }) => runId).toSorted()).toEqual(runs.map(({ id }) => id).toSorted())
      // Every fire that was acknowledged to the emitter exists.
      const ids = new Set(fires.map(({ id }) => id))
      expect(emitted.filter((id) => !ids.has(id))).toEqual([])
    }
    expect(commits).toBeGreaterThan(10)
  })
})
