import type { PhaseResult, Storage } from '@perdure/ports'
import { aMessage, aRun } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld, DAY, HOUR } from '../memory/memory.fixture.ts'
import { extract, fails, never, startConsolidator } from './consolidator.fixture.ts'

describe('createConsolidator', () => {
  it('processes an idle session once, and again when it has new messages', async () => {
    const { addSession, advance, waitUntilIdle, texts, unitOfWork, clock } = startConsolidator({ phases: { extract } })
    await addSession('ses-1', ['one', 'two'])
    await advance(HOUR - 1)
    expect(await texts()).toEqual([])

    await advance(30_000)
    expect(await texts()).toEqual(['one', 'two'])
    await waitUntilIdle()
    expect(await texts()).toEqual(['one', 'two'])

    const message = aMessage({ id: 'm3', sessionId: 'ses-1', createdAt: clock.now(), content: '"three"' as never })
    await unitOfWork.commit([{ type: 'message.append', message }])
    await waitUntilIdle()
    expect(await texts()).toEqual(['one', 'two', 'three'])
  })

  it('does not process a session whose run has not ended', async () => {
    const { addSession, waitUntilIdle, texts, unitOfWork } = startConsolidator({ phases: { extract } })
    await addSession('ses-1')
    await unitOfWork.commit([{ type: 'run.insert', run: aRun({ sessionId: 'ses-1', status: 'suspended' }) }])

    await waitUntilIdle()

    expect(await texts()).toEqual([])
  })

  it('stores facts with the owner and session of their source, then runs the merge and decay phases', async () => {
    const { addSession, waitUntilIdle, storage, eventsOf, clock } = startConsolidator({ phases: { extract } })
    await addSession('ses-1', ['one', 'One.'])

    await waitUntilIdle()

    const { items } = await storage.facts.list(
      { now: clock.now(), visibility: { owner: 'alice' } },
      { limit: 9, order: 'asc' },
    )
    expect(items).toMatchObject([{ text: 'one', sourceSessionId: 'ses-1' }])
    const phases = (await eventsOf('memory/events')).filter(({ type }) => type === 'memory.consolidated')
    expect(phases.map(({ payload }) => [payload.phase, payload.changed])).toEqual([
      ['extract', 2],
      ['merge', 1],
      ['decay', 0],
    ])
  })

  it('reads a long transcript in batches, oldest first, each message once', async () => {
    const { addSession, waitUntilIdle, storage, clock } = startConsolidator({
      phases: { extract, merge: async () => ({}) },
    })
    const said = Array.from(
      { length: 450 },
      (_, index) => `message number ${index} ${'abcdefghij'[index % 10]}${index}`,
    )
    await addSession('ses-1', said)

    await waitUntilIdle()

    const filter = { now: clock.now(), visibility: { owner: 'alice' } }
    const { items } = await storage.facts.list(filter, { limit: 1_000, order: 'asc' })
    expect(items.map(({ text }) => text)).toEqual(said)
  })

  it('retries a failed phase with backoff and makes its job a dead letter after five attempts', async () => {
    let attempts = 0
    const merge = () => {
      attempts++
      return fails()
    }
    const { advance, queueConsolidation, counts, deadLetters, checkConsolidator } = startConsolidator({
      phases: { merge },
    })
    await queueConsolidation.queue({ phase: 'merge' })
    await advance(0)
    expect(attempts).toBe(1)

    for (const [waitMs, done] of [
      [4_999, 1],
      [1, 2],
      [19_999, 2],
      [1, 3],
      [80_000, 4],
    ] as const) {
      await advance(waitMs)
      expect(attempts).toBe(done)
    }
    for (let n = 0; n < 12; n++) await advance(30_000)

    expect(attempts).toBe(5)
    expect(await counts()).toMatchObject({ merge: 0, deadLetters: 1 })
    expect(await deadLetters()).toMatchObject([
      { phase: 'merge', attempts: 5, error: { kind: 'transient', message: 'no model' } },
    ])
    expect(checkConsolidator()).toMatchObject({ status: 'warn', deadLetters: 1, running: true })
  })

  it.each([
    ['Object', 'done'],
    ['remembr', { remembr: [] }],
    ['remember', { remember: 'everything' }],
    ['remember.0.text', { remember: [{ text: 5 }] }],
    ['remember.0.importance', { remember: [{ text: 'x', importance: 7 }] }],
    ['remember.0.tags', { remember: [{ text: 'x', tags: 'noon' }] }],
    ['revise.0.fact', { revise: [{ id: 'mem_1', text: 'x' }] }],
    ['weigh.0.importance', { weigh: [{ fact: { id: 'mem_1', revision: 1 }, importance: Number.NaN }] }],
    ['spent.costUsd', { spent: { tokens: 5 } }],
  ])('fails a phase whose result is invalid and names %s', async (member, result) => {
    const { addSession, waitUntilIdle, advance, texts, deadLetters } = startConsolidator({
      phases: { extract: async () => result as unknown as PhaseResult },
    })
    await addSession('ses-1')
    await waitUntilIdle()
    for (const ms of [5_000, 20_000, 80_000, 320_000]) await advance(ms)

    expect(await texts()).toEqual([])
    expect(await deadLetters()).toMatchObject([
      { phase: 'extract', error: { kind: 'validation-failed', message: expect.stringContaining(member) } },
    ])
  })

  it('retries a dead letter on request', async () => {
    let isDown = true
    const merge = () => (isDown ? fails() : Promise.resolve({}))
    const { advance, queueConsolidation, counts, deadLetters } = startConsolidator({ phases: { merge } })
    await queueConsolidation.queue({ phase: 'merge' })
    for (let n = 0; n < 30; n++) await advance(30_000)
    const [letter] = await deadLetters()
    isDown = false

    const reply = await queueConsolidation.retry({ id: letter?.id ?? '' })
    await advance(0)

    expect(reply).toMatchObject({ status: 202, body: { jobIds: [letter?.id] } })
    expect(await counts()).toEqual({ extract: 0, merge: 0, decay: 0, deadLetters: 0 })
    await expect(queueConsolidation.retry({ id: letter?.id ?? '' })).rejects.toMatchObject({
      kind: 'dead-letter-not-found',
    })
  })

  it('runs a job again after a crash and applies its effect once', async () => {
    for (const moment of ['before', 'after']) {
      const first = startConsolidator()
      await first.remember('one')
      await first.remember('One.')
      const crashing: Storage = {
        ...first.storage,
        unitOfWork: {
          async commit(writes) {
            if (!writes.some(({ type }) => type === 'job.complete')) return first.storage.unitOfWork.commit(writes)
            if (moment === 'after') await first.storage.unitOfWork.commit(writes)
            return never()
          },
        },
      }
      const shared = { clock: first.clock, ids: first.ids }
      const crashed = startConsolidator({ ...shared, storage: crashing })
      await crashed.queueConsolidation.queue({ phase: 'merge' })
      await crashed.advance(0)

      const next = startConsolidator({ ...shared, storage: first.storage })
      await next.advance(60_000)

      expect(await next.texts()).toEqual(['one'])
      expect(await next.counts()).toMatchObject({ merge: 0, deadLetters: 0 })
      const deletions = (await next.eventsOf('memory/events')).filter(({ type }) => type === 'memory.fact.deleted')
      expect(deletions, moment).toHaveLength(1)
    }
  })

  it('discards a result that arrives after the lease has expired', async () => {
    const { promise, resolve } = Promise.withResolvers<PhaseResult>()
    const results = [() => promise, async () => ({ remember: [{ text: 'second' }] })]
    let calls = 0
    const { addSession, advance, texts, queueConsolidation } = startConsolidator({
      phases: { extract: () => (results[calls++] ?? (async () => ({})))() },
    })
    await addSession('ses-1')
    await queueConsolidation.queue({ phase: 'extract', sessionId: 'ses-1' })
    await advance(0)
    await advance(60_000)
    resolve({ remember: [{ text: 'late' }] })
    await advance(5_000)

    expect(await texts()).toEqual(['second'])
  })

  it('makes a job a dead letter if the process ended during every attempt', async () => {
    const { storage, queueConsolidation, advance, deadLetters, clock } = startConsolidator({ phases: { merge: never } })
    await queueConsolidation.queue({ phase: 'merge' })
    const [job] = await storage.jobs.due(['merge'], clock.now(), 1)
    for (let n = 0; n < 5; n++) {
      const now = clock.now()
      const claim = { type: 'job.claim', id: job?.id ?? '', lease: `dead-${n}`, now, until: now } as const
      expect((await storage.unitOfWork.commit([claim])).committed).toBe(true)
    }
    await advance(0)

    expect(await deadLetters()).toMatchObject([{ id: job?.id, error: { kind: 'interrupted' } }])
  })

  it('runs a phase again if a fact was changed while the phase ran', async () => {
    let calls = 0
    const world = startConsolidator({
      phases: {
        merge: async (_, reads) => {
          const [fact] = await reads.similar('one', 1)
          if (calls++ === 0 && fact !== undefined) {
            await world.writeFacts.update({ id: fact.id, visibility: { owner: 'alice' }, change: { tags: ['new'] } })
          }
          return { revise: fact === undefined ? [] : [{ fact, change: { importance: 1 } }] }
        },
      },
    })
    const { id } = await world.remember('one')
    await world.queueConsolidation.queue({ phase: 'merge' })
    await world.advance(0)

    expect(calls).toBe(2)
    expect(await world.readMemory.fact(id, { owner: 'alice' })).toMatchObject({ tags: ['new'], importance: 1 })
  })

  it('pauses budgeted phases when the daily budget is exhausted and resumes the next day', async () => {
    const { addSession, advance, waitUntilIdle, texts, readConsolidator, readState } = startConsolidator({
      phases: { extract },
      limits: { tokensPerDay: 20, usdCentsPerDay: 1_000 },
    })
    for (const id of ['a', 'b', 'c']) await addSession(id, [`said in ${id} ${id}`])
    await waitUntilIdle()

    expect(await texts()).toHaveLength(2)
    const budget = { tokens: { limit: 20, remaining: 0 }, usd: { limit: 10, remaining: 9 } }
    expect(await readConsolidator.get()).toMatchObject({ queueDepth: { extract: 1, merge: 0 }, budget })
    expect(readState().budget).toEqual(budget)

    await advance(DAY)
    await advance(30_000)
    expect(await texts()).toHaveLength(3)
  })

  it('aborts the current job on stop and returns the job to the queue', async () => {
    const { queueConsolidation, advance, daemons, storage, counts, clock } = startConsolidator({
      phases: { merge: never },
    })
    await queueConsolidation.queue({ phase: 'merge' })
    await advance(0)
    const stopping = Promise.all(daemons.map((daemon) => daemon.stop()))
    await advance(0)
    await stopping

    expect(await counts()).toMatchObject({ merge: 1 })
    expect(await storage.jobs.due(['merge'], clock.now(), 1)).toMatchObject([{ attempts: 0, lease: undefined }])
  })

  it('stops within ten seconds even if the storage hangs', async () => {
    const world = createMemoryWorld()
    const hanging: Storage = { ...world.storage, jobs: { ...world.storage.jobs, due: never } }
    const { daemons, advance } = startConsolidator({ storage: hanging, clock: world.clock, ids: world.ids })
    await advance(0)
    let isStopped = false
    const stopping = Promise.all(daemons.map((daemon) => daemon.stop())).then(() => {
      isStopped = true
    })
    await advance(9_999)
    expect(isStopped).toBe(false)
    await advance(1)
    await stopping
  })
})
