import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type JsonText, type Storage, type Visibility } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createTestEngine, untilIdle, workflowOf } from '../engine/test-engine.fixture.ts'
import { createCrashingStorage } from '../engine-model/crashing-storage.fixture.ts'

const KEY = { id: 'key-1', fingerprint: 'same' }
const TWICE = workflowOf('twice', async (_, { waitForEvent }) => [await waitForEvent('go'), await waitForEvent('go')])

function setUp() {
  const shared = { storage: createInMemoryStorage(), clock: createManualClock(), ids: createSequenceIds() }
  const start = async (storage: Storage = shared.storage) => {
    const engine = createTestEngine({ ...shared, storage, workflows: [TWICE], maxQueued: 10_000 })
    await engine.recover()
    await engine.start()
    await untilIdle(shared.clock)
    return engine
  }
  const execute = async (engine: Awaited<ReturnType<typeof start>>, count: number) => {
    for (let index = 0; index < count; index++) await engine.execute('twice')
    await settleAll()
  }
  const settleAll = async () => {
    for (let round = 0; round < 12; round++) await untilIdle(shared.clock)
  }
  /** Payloads that each run received, oldest run first; `null` for an open wait. */
  const received = async () => {
    const runs = []
    for (let cursor: string | undefined, isMore = true; isMore; ) {
      const page = await shared.storage.runs.list({}, { limit: 200, order: 'asc', cursor }, EVERY_ROW)
      runs.push(...page.items)
      cursor = page.nextCursor ?? undefined
      isMore = cursor !== undefined
    }
    const steps = await Promise.all(runs.map(({ id }) => shared.storage.steps.list(id)))
    return steps.map((all) => all.map(({ result = null }) => result))
  }
  return { ...shared, start, execute, settleAll, received }
}

const repeat = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one)
const json = (value: unknown) => JSON.stringify(value) as JsonText

describe('emitEvent', () => {
  it('resumes each waiting run once, even if it waits again when the request is repeated', async () => {
    const { start, execute, settleAll, received } = setUp()
    const engine = await start()
    await execute(engine, 2)

    const first = await engine.emitEvent({ name: 'go', payload: 1, key: KEY })
    await settleAll()
    const again = await engine.emitEvent({ name: 'go', payload: 1, key: KEY })
    await settleAll()

    expect(first.body).toMatchObject({ name: 'go', wokenRunIds: [expect.any(String), expect.any(String)] })
    expect(again).toMatchObject({ replayed: true, json: json(first.body) })
    expect(await received()).toEqual(repeat(2, ['1', null]))
  })

  it('takes effect once if the process crashes before it answers', async () => {
    const { storage, start, execute, settleAll, received } = setUp()
    const first = createCrashingStorage(storage)
    const engine = await start(first.storage)
    await execute(engine, 3)

    first.crashAfter(1)
    engine.emitEvent({ name: 'go', payload: 1, key: KEY })
    await settleAll()
    expect(first.hasCrashed()).toBe(true)
    const restarted = await start()
    await settleAll()
    const retried = await restarted.emitEvent({ name: 'go', payload: 1, key: KEY })
    await settleAll()

    expect(retried).toMatchObject({ status: 202, replayed: true })
    expect(await received()).toEqual(repeat(3, ['1', null]))
  })

  it.each([1, 2, 3])(
    'reaches each of many waiting runs once if the process crashes after commit %i',
    async (commits) => {
      const { storage, start, execute, settleAll, received } = setUp()
      const first = createCrashingStorage(storage)
      const engine = await start(first.storage)
      await execute(engine, 450)

      first.crashAfter(commits)
      engine.emitEvent({ name: 'go', payload: 1, key: KEY })
      await settleAll()
      expect(first.hasCrashed()).toBe(true)
      const restarted = await start()
      await settleAll()
      const retried = await restarted.emitEvent({ name: 'go', payload: 1, key: KEY })
      await settleAll()

      expect(retried).toMatchObject({ status: 202, replayed: true })
      expect(JSON.parse(retried.json ?? '').wokenRunIds).toHaveLength(450)
      expect(await received()).toEqual(repeat(450, ['1', null]))
      expect(await storage.emissions.list(10)).toEqual([])
    },
  )

  it('takes effect once for concurrent requests with one key, and gives each the same answer', async () => {
    const { start, execute, settleAll, received } = setUp()
    const engine = await start()
    await execute(engine, 3)

    const replies = await Promise.all(repeat(5, 0).map(() => engine.emitEvent({ name: 'go', payload: 1, key: KEY })))
    await settleAll()

    expect(new Set(replies.map(({ body, json: text }) => text ?? json(body))).size).toBe(1)
    expect(await received()).toEqual(repeat(3, ['1', null]))
  })

  it('reports to each of many concurrent events the runs that receive it, and plans each wait once', async () => {
    const { storage, start, execute, settleAll } = setUp()
    let planned = 0
    const engine = await start({
      ...storage,
      unitOfWork: {
        commit(writes) {
          for (const write of writes) if (write.type === 'emission.insert') planned += write.part.waits.length
          return storage.unitOfWork.commit(writes)
        },
      },
    })
    await execute(engine, 250)

    const emitting = Promise.all([...Array(20).keys()].map((payload) => engine.emitEvent({ name: 'go', payload })))
    for (let round = 0; round < 10; round++) await settleAll()
    const replies = await emitting

    const woken = replies.flatMap(({ body }, payload) =>
      (body as { wokenRunIds: string[] }).wokenRunIds.map((runId) => `${runId} ${payload}`),
    )
    const runIds = new Set(woken.map((one) => one.split(' ')[0] ?? ''))
    const steps = (await Promise.all([...runIds].map((id) => storage.steps.list(id)))).flat()
    const resolved = steps.filter(({ status }) => status === 'completed')
    expect(runIds.size).toBe(250)
    expect(resolved.map(({ runId, result }) => `${runId} ${result}`).sort()).toEqual(woken.sort())
    expect(planned).toBeLessThanOrEqual(resolved.length)
  })

  it('plans again if runs change between the read and the commit', async () => {
    const { storage, start, execute, settleAll, received } = setUp()
    let interferences = 2
    const engine = await start({
      ...storage,
      unitOfWork: {
        async commit(writes) {
          const isEmission = writes.some(({ type }) => type === 'idempotency.reserve')
          if (isEmission && interferences-- > 0) {
            const [step] = await storage.steps.waitingForEvent('go', { limit: 1 })
            if (step !== undefined) await engine.emitEvent({ name: 'go', payload: 0, runId: step.runId })
          }
          return storage.unitOfWork.commit(writes)
        },
      },
    })
    await execute(engine, 3)

    await engine.emitEvent({ name: 'go', payload: 1, key: KEY })
    await settleAll()

    expect(await received()).toEqual([
      ['0', null],
      ['0', null],
      ['1', null],
    ])
  })

  it('commits trigger fires together with the event and starts them afterwards', async () => {
    const { storage, clock } = setUp()
    const order: string[] = []
    const engine = createTestEngine({
      ...{ storage, clock, workflows: [TWICE] },
      fireEventTriggers: async ({ name, payload }) => ({
        writes: [{ type: 'event.append', events: [{ topic: 'fires', type: name, payload, at: clock.now() }] }],
        fires: [{ id: 'fire_1', triggerId: 'nightly' }],
        onCommitted: () => void order.push('committed'),
      }),
    })

    const reply = await engine.emitEvent({ name: 'go', payload: 1, key: KEY })

    expect(reply.body).toEqual({ name: 'go', wokenRunIds: [], fireIds: ['fire_1'] })
    expect(order).toEqual(['committed'])
    expect(await storage.events.read({ topic: 'fires' }, { after: 0, limit: 9 })).toHaveLength(1)
    await engine.emitEvent({ name: 'go', payload: 1, key: KEY })
    expect(order).toEqual(['committed'])
    expect(await storage.events.read({ topic: 'fires' }, { after: 0, limit: 9 })).toHaveLength(1)
  })

  it('wakes every waiting run, but lists only the runs and fires that the caller may see', async () => {
    const { start, execute, received, settleAll } = setUp()
    const engine = await start()
    await execute(engine, 2)
    const emit = async (scopes: readonly string[], runs: Visibility) =>
      (await engine.emitEvent({ name: 'go', payload: 1, caller: { principal: { subject: 'bob', scopes }, runs } })).body

    expect(await emit(['events:emit:go'], { owner: 'bob' })).toEqual({ name: 'go', wokenRunIds: [], fireIds: [] })
    await settleAll()
    expect(await received()).toEqual(repeat(2, ['1', null]))
    expect(await emit(['events:emit:go'], { owner: 'bob', workflowIds: ['twice'] })).toMatchObject({
      wokenRunIds: [expect.any(String), expect.any(String)],
    })
  })

  it('lists only visible runs if they are too many for one commit', async () => {
    const { start, execute } = setUp()
    const engine = await start()
    await execute(engine, 201)
    const caller = { principal: { subject: 'bob', scopes: [] }, runs: { owner: 'bob' } }

    expect((await engine.emitEvent({ name: 'go', caller })).body).toMatchObject({ wokenRunIds: [] })
  })

  it.each([
    [['events:emit'], []],
    [['triggers:read:nightly'], ['fire_1']],
    [['triggers:read'], ['fire_1', 'fire_2']],
    [['admin:*'], ['fire_1', 'fire_2']],
  ])('lists the fires of the triggers that a caller with %j may read', async (scopes, fireIds) => {
    const fires = [
      { id: 'fire_1', triggerId: 'nightly' },
      { id: 'fire_2', triggerId: 'hourly' },
    ]
    const engine = createTestEngine({
      fireEventTriggers: async () => ({ writes: [], fires, onCommitted: () => undefined }),
    })
    const caller = { principal: { subject: 'bob', scopes }, runs: EVERY_ROW } as const

    expect((await engine.emitEvent({ name: 'go', caller })).body).toMatchObject({ fireIds })
  })
})
