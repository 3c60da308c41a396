import { Consolidator, DeadLetter, listOf, QueuedJobs } from '@perdure/protocol'
import { parse } from 'valibot'
import { describe, expect, it } from 'vitest'
import { bodyOf, createTestApp, get, post, refusalOf } from '../app.fixture.ts'

describe('/consolidator', () => {
  it('returns the queue, the dead letters and the daily budget', async () => {
    const { app } = createTestApp()
    const response = await app.fetch(post('/consolidator/run', { phase: 'merge' }))

    expect(response.status).toBe(202)
    expect(parse(QueuedJobs, await bodyOf(response)).jobIds).toEqual([expect.stringMatching(/^job_/)])
    expect(parse(Consolidator, await bodyOf(await app.fetch(get('/consolidator'))))).toEqual({
      running: false,
      queueDepth: { extract: 0, merge: 1, decay: 0 },
      deadLetters: 0,
      budget: { tokens: { limit: 1_000, remaining: 1_000 }, usd: { limit: null, remaining: null } },
    })
  })

  it('rejects an unknown session and an unknown phase', async () => {
    const { app } = createTestApp()

    expect(await refusalOf(await app.fetch(post('/consolidator/run', { sessionId: 'none' })))).toEqual({
      status: 404,
      error: 'session-not-found',
    })
    expect((await app.fetch(post('/consolidator/run', { phase: 'dream' }))).status).toBe(400)
  })

  it('lists dead letters and requeues one', async () => {
    const { app, storage, clock } = createTestApp()
    const now = clock.now()
    await storage.unitOfWork.commit([
      { type: 'job.enqueue', job: { id: 'job-1', key: 'k', phase: 'merge', createdAt: now, dueAt: now } },
      { type: 'job.claim', id: 'job-1', lease: 'l', now, until: now },
      {
        type: 'job.fail',
        id: 'job-1',
        lease: 'l',
        now,
        attempts: 5,
        error: { kind: 'transient', message: 'no model' },
      },
    ])

    const { items } = parse(listOf(DeadLetter), await bodyOf(await app.fetch(get('/consolidator/dead-letters'))))
    expect(items).toMatchObject([{ id: 'job-1', attempts: 5, error: { kind: 'transient' } }])

    const retry = () => app.fetch(post('/consolidator/dead-letters/job-1/retry'))
    expect(await bodyOf(await retry())).toEqual({ jobIds: ['job-1'] })
    expect(await refusalOf(await retry())).toEqual({ status: 404, error: 'dead-letter-not-found' })
  })
})
