import { describe, expect, it } from 'vitest'
import { key, never, running } from './consolidator.fixture.ts'

describe('queueing by hand', () => {
  it('queues every phase for all, and names the same jobs when they wait already', async () => {
    const { addSession, queueConsolidation, counts } = running({ phases: { merge: never } })
    await addSession('ses-1')

    const first = await queueConsolidation.queue({})
    const second = await queueConsolidation.queue({})

    expect(first.status).toBe(202)
    expect(second.body).toEqual(first.body)
    expect(await counts()).toMatchObject({ extract: 1, merge: 1, decay: 1 })
  })

  it('queues one phase, or what belongs to one session', async () => {
    const { addSession, queueConsolidation, counts, storage, clock } = running()
    await addSession('ses-1')
    await queueConsolidation.queue({ phase: 'decay' })
    expect(await counts()).toMatchObject({ extract: 0, merge: 0, decay: 1 })

    await queueConsolidation.queue({ sessionId: 'ses-1' })

    const due = await storage.jobs.due(['extract', 'merge', 'decay'], clock.now(), 9)
    expect(due.map(({ phase, owner, sessionId }) => [phase, owner, sessionId])).toEqual([
      ['decay', undefined, undefined],
      ['extract', 'alice', 'ses-1'],
      ['merge', 'alice', undefined],
      ['decay', 'alice', undefined],
    ])
    await expect(queueConsolidation.queue({ sessionId: 'unknown' })).rejects.toMatchObject({
      code: 'session-not-found',
    })
  })

  it('is remembered under its key, and refused while the server drains', async () => {
    const { queueConsolidation, phase } = running()
    const first = await queueConsolidation.queue({ phase: 'merge', key })
    expect(await queueConsolidation.queue({ phase: 'merge', key })).toMatchObject({
      replayed: true,
      status: first.status,
    })

    phase.enter('draining')
    await expect(queueConsolidation.queue({})).rejects.toMatchObject({ kind: 'server-draining' })
  })
})
