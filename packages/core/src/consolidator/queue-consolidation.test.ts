import { describe, expect, it } from 'vitest'
import { key, never, startConsolidator } from './consolidator.fixture.ts'

describe('createQueueConsolidation', () => {
  it('queues every phase for every owner, and returns the same jobs if they are already queued', async () => {
    const { addSession, queueConsolidation, counts } = startConsolidator({ phases: { merge: never } })
    await addSession('ses-1')

    const first = await queueConsolidation.queue({})
    const second = await queueConsolidation.queue({})

    expect(first.status).toBe(202)
    expect(second.body).toEqual(first.body)
    expect(await counts()).toMatchObject({ extract: 1, merge: 1, decay: 1 })
  })

  it('queues one phase, or the phases of one session', async () => {
    const { addSession, queueConsolidation, counts, storage, clock } = startConsolidator()
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

  it('replays the answer for a repeated key, and rejects requests while the server drains', async () => {
    const { queueConsolidation, phase } = startConsolidator()
    const first = await queueConsolidation.queue({ phase: 'merge', key })
    expect(await queueConsolidation.queue({ phase: 'merge', key })).toMatchObject({
      replayed: true,
      status: first.status,
    })

    phase.enter('draining')
    await expect(queueConsolidation.queue({})).rejects.toMatchObject({ kind: 'server-draining' })
  })
})
