import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type Storage } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createTriggerServer } from './triggers.fixture.ts'

const HOUR = 3_600_000

/** A storage whose process dies at one of its commits: before it is durable, or right after. */
function dyingAt(storage: Storage, commits: number, moment: 'before' | 'after') {
  let left = commits
  const died = () => left <= 0
  const unitOfWork: Storage['unitOfWork'] = {
    async commit(writes) {
      if (died()) throw new Error('the process is dead')
      left--
      if (!died()) return storage.unitOfWork.commit(writes)
      if (moment === 'after') await storage.unitOfWork.commit(writes)
      throw new Error('the process dies')
    },
  }
  return { storage: { ...storage, unitOfWork }, died }
}

/** Three hours with a crash in them, then whatever is needed to make up for it. */
async function live(commits: number, moment: 'before' | 'after', overlap: 'queue' | 'allow') {
  const around = { clock: createManualClock(), ids: createSequenceIds() }
  const storage = createInMemoryStorage()
  const target = { agentId: 'echo' }
  const first = await createTriggerServer({ storage, ...around }).start()
  await first.create({ id: 'hourly', kind: 'cron', cron: '0 * * * *', catchUp: 'all', overlap, target })
  await first.create({ id: 'paid', kind: 'event', event: 'paid', overlap, target })
  await first.stop()

  const dying = dyingAt(storage, commits, moment)
  const second = await createTriggerServer({ storage: dying.storage, ...around }).start()
  const emitted: string[] = []
  for (let hour = 0; hour < 3 && !dying.died(); hour++) {
    await second.pass(HOUR)
    await second.engine.emitEvent({ name: 'paid', payload: hour }).then(
      ({ body }) => void emitted.push(...(body as { fireIds: string[] }).fireIds),
      () => undefined,
    )
  }
  await second.stop()
  around.clock.advance(Math.max(0, Date.UTC(2025, 0, 1, 4) - around.clock.now()))
  const third = await createTriggerServer({ storage, ...around }).start()
  await third.pass(1_000)
  return { died: dying.died(), storage, emitted, third }
}

describe.each(['before', 'after'] as const)('a crash %s any commit', (moment) => {
  it.each(['allow', 'queue'] as const)('neither loses nor repeats a fire (overlap %s)', async (overlap) => {
    let commits = 1
    let isOver = false
    for (; !isOver; commits++) {
      const { died, storage, emitted, third } = await live(commits, moment, overlap)
      isOver = !died

      const runs = (await storage.runs.list({}, { limit: 200, order: 'asc' }, EVERY_ROW)).items
      const hours = runs.filter(({ triggerId }) => triggerId === 'hourly').map(({ metadata }) => metadata.scheduledAt)
      expect(hours.toSorted(), `commit ${commits}`).toEqual(
        [1, 2, 3, 4].map((hour) => `2025-01-01T0${hour}:00:00.000Z`),
      )
      const fires = [...(await third.fires('hourly')), ...(await third.fires('paid'))]
      expect(fires.every(({ status }) => status === 'completed' || status === 'failed')).toBe(true)
      expect(fires.map(({ runId }) => runId).toSorted()).toEqual(runs.map(({ id }) => id).toSorted())
      // What was acknowledged to whoever emitted has fired.
      const ids = new Set(fires.map(({ id }) => id))
      expect(emitted.filter((id) => !ids.has(id))).toEqual([])
    }
    expect(commits).toBeGreaterThan(10)
  })
})
