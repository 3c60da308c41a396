import type { PhaseResult, Storage } from '@perdure/ports'
import { aMessage, aRun } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld, DAY, HOUR } from '../memory/memory.fixture.ts'
import { extract, fails, never, running } from './consolidator.fixture.ts'

describe('the consolidator', () => {
  it('takes up a session that went idle, once, and again when it has something new', async () => {
    const { addSession, pass, beIdle, texts, unitOfWork, clock } = running({ phases: { extract } })
    await addSession('ses-1', ['one', 'two'])
    await pass(HOUR - 1)
    expect(await texts()).toEqual([])

    await pass(30_000)
    expect(await texts()).toEqual(['one', 'two'])
    await beIdle()
    expect(await texts()).toEqual(['one', 'two'])

    const message = aMessage({ id: 'm3', sessionId: 'ses-1', createdAt: clock.now(), content: '"three"' as never })
    await unitOfWork.commit([{ type: 'message.append', message }])
    await beIdle()
    expect(await texts()).toEqual(['one', 'two', 'three'])
  })

  it('leaves a session alone whose run has not ended', async () => {
    const { addSession, beIdle, texts, unitOfWork } = running({ phases: { extract } })
    await addSession('ses-1')
    await unitOfWork.commit([{ type: 'run.insert', run: aRun({ sessionId: 'ses-1', status: 'suspended' }) }])

    await beIdle()

    expect(await texts()).toEqual([])
  })

  it('gives facts the owner and session they were learnt in, then merges and lets fade', async () => {
    const { addSession, beIdle, storage, eventsOf, clock } = running({ phases: { extract } })
    await addSession('ses-1', ['one', 'One.'])

    await beIdle()

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

  it('reads a long transcript in parts, oldest first, each once', async () => {
    const { addSession, beIdle, storage, clock } = running({ phases: { extract, merge: async () => ({}) } })
    const said = Array.from(
      { length: 450 },
      (_, index) => `message number ${index} ${'abcdefghij'[index % 10]}${index}`,
    )
    await addSession('ses-1', said)

    await beIdle()

    const filter = { now: clock.now(), visibility: { owner: 'alice' } }
    const { items } = await storage.facts.list(filter, { limit: 1_000, order: 'asc' })
    expect(items.map(({ text }) => text)).toEqual(said)
  })

  it('tries a failed phase again, later every time, and gives it up after five attempts', async () => {
    let attempts = 0
    const merge = () => {
      attempts++
      return fails()
    }
    const { pass, queueConsolidation, counts, dead, checkConsolidator } = running({ phases: { merge } })
    await queueConsolidation.queue({ phase: 'merge' })
    await pass(0)
    expect(attempts).toBe(1)

    for (const [waitMs, done] of [
      [4_999, 1],
      [1, 2],
      [19_999, 2],
      [1, 3],
      [80_000, 4],
    ] as const) {
      await pass(waitMs)
      expect(attempts).toBe(done)
    }
    for (let n = 0; n < 12; n++) await pass(30_000)

    expect(attempts).toBe(5)
    expect(await counts()).toMatchObject({ merge: 0, deadLetters: 1 })
    expect(await dead()).toMatchObject([
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
  ])('fails a phase whose result is wrong, and names %s', async (member, result) => {
    const { addSession, beIdle, pass, texts, dead } = running({
      phases: { extract: async () => result as unknown as PhaseResult },
    })
    await addSession('ses-1')
    await beIdle()
    for (const ms of [5_000, 20_000, 80_000, 320_000]) await pass(ms)

    expect(await texts()).toEqual([])
    expect(await dead()).toMatchObject([
      { phase: 'extract', error: { kind: 'validation-failed', message: expect.stringContaining(member) } },
    ])
  })

  it('does a dead letter again when asked to', async () => {
    let isDown = true
    const merge = () => (isDown ? fails() : Promise.resolve({}))
    const { pass, queueConsolidation, counts, dead } = running({ phases: { merge } })
    await queueConsolidation.queue({ phase: 'merge' })
    for (let n = 0; n < 30; n++) await pass(30_000)
    const [letter] = await dead()
    isDown = false

    const reply = await queueConsolidation.retry({ id: letter?.id ?? '' })
    await pass(0)

    expect(reply).toMatchObject({ status: 202, body: { jobIds: [letter?.id] } })
    expect(await counts()).toEqual({ extract: 0, merge: 0, decay: 0, deadLetters: 0 })
    await expect(queueConsolidation.retry({ id: letter?.id ?? '' })).rejects.toMatchObject({
      kind: 'dead-letter-not-found',
    })
  })

  it('takes a job again whose process died, and its effect happens once', async () => {
    for (const death of ['before', 'after']) {
      const first = running()
      await first.remember('one')
      await first.remember('One.')
      const dying: Storage = {
        ...first.storage,
        unitOfWork: {
          async commit(writes) {
            if (!writes.some(({ type }) => type === 'job.complete')) return first.storage.unitOfWork.commit(writes)
            if (death === 'after') await first.storage.unitOfWork.commit(writes)
            return never()
          },
        },
      }
      const shared = { clock: first.clock, ids: first.ids }
      const dead = running({ ...shared, storage: dying })
      await dead.queueConsolidation.queue({ phase: 'merge' })
      await dead.pass(0)

      const next = running({ ...shared, storage: first.storage })
      await next.pass(60_000)

      expect(await next.texts()).toEqual(['one'])
      expect(await next.counts()).toMatchObject({ merge: 0, deadLetters: 0 })
      const deletions = (await next.eventsOf('memory/events')).filter(({ type }) => type === 'memory.fact.deleted')
      expect(deletions, death).toHaveLength(1)
    }
  })

  it('drops what a phase comes to after its lease', async () => {
    const { promise, resolve } = Promise.withResolvers<PhaseResult>()
    const results = [() => promise, async () => ({ remember: [{ text: 'second' }] })]
    let calls = 0
    const { addSession, pass, texts, queueConsolidation } = running({
      phases: { extract: () => (results[calls++] ?? (async () => ({})))() },
    })
    await addSession('ses-1')
    await queueConsolidation.queue({ phase: 'extract', sessionId: 'ses-1' })
    await pass(0)
    await pass(60_000)
    resolve({ remember: [{ text: 'late' }] })
    await pass(5_000)

    expect(await texts()).toEqual(['second'])
  })

  it('gives a job up that ends its process every time', async () => {
    const { storage, queueConsolidation, pass, dead, clock } = running({ phases: { merge: never } })
    await queueConsolidation.queue({ phase: 'merge' })
    const [job] = await storage.jobs.due(['merge'], clock.now(), 1)
    for (let n = 0; n < 5; n++) {
      const now = clock.now()
      const claim = { type: 'job.claim', id: job?.id ?? '', lease: `dead-${n}`, now, until: now } as const
      expect((await storage.unitOfWork.commit([claim])).committed).toBe(true)
    }
    await pass(0)

    expect(await dead()).toMatchObject([{ id: job?.id, error: { kind: 'interrupted' } }])
  })

  it('decides again when a fact was changed while its phase worked', async () => {
    let calls = 0
    const world = running({
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
    await world.pass(0)

    expect(calls).toBe(2)
    expect(await world.readMemory.fact(id, { owner: 'alice' })).toMatchObject({ tags: ['new'], importance: 1 })
  })

  it('stops spending when the budget of the day is used up, and goes on the next day', async () => {
    const { addSession, pass, beIdle, texts, readConsolidator, readState } = running({
      phases: { extract },
      limits: { tokensPerDay: 20, usdCentsPerDay: 1_000 },
    })
    for (const id of ['a', 'b', 'c']) await addSession(id, [`said in ${id} ${id}`])
    await beIdle()

    expect(await texts()).toHaveLength(2)
    const budget = { tokens: { limit: 20, remaining: 0 }, usd: { limit: 10, remaining: 9 } }
    expect(await readConsolidator.get()).toMatchObject({ queueDepth: { extract: 1, merge: 0 }, budget })
    expect(readState().budget).toEqual(budget)

    await pass(DAY)
    await pass(30_000)
    expect(await texts()).toHaveLength(3)
  })

  it('stops at once between jobs, and gives back what it works on', async () => {
    const { queueConsolidation, pass, daemons, storage, counts, clock } = running({ phases: { merge: never } })
    await queueConsolidation.queue({ phase: 'merge' })
    await pass(0)
    const stopping = Promise.all(daemons.map((daemon) => daemon.stop()))
    await pass(0)
    await stopping

    expect(await counts()).toMatchObject({ merge: 1 })
    expect(await storage.jobs.due(['merge'], clock.now(), 1)).toMatchObject([{ attempts: 0, lease: undefined }])
  })

  it('has stopped after ten seconds, whatever hangs', async () => {
    const world = createMemoryWorld()
    const hanging: Storage = { ...world.storage, jobs: { ...world.storage.jobs, due: never } }
    const { daemons, pass } = running({ storage: hanging, clock: world.clock, ids: world.ids })
    await pass(0)
    let isStopped = false
    const stopping = Promise.all(daemons.map((daemon) => daemon.stop())).then(() => {
      isStopped = true
    })
    await pass(9_999)
    expect(isStopped).toBe(false)
    await pass(1)
    await stopping
  })
})
