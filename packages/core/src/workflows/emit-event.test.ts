import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type JsonText, type Storage } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createTestEngine, settled, workflowOf } from '../engine/test-engine.fixture.ts'
import { mortal } from '../model/crashing-storage.fixture.ts'

const KEY = { id: 'key-1', fingerprint: 'same' }
const TWICE = workflowOf('twice', async (_, { waitForEvent }) => [await waitForEvent('go'), await waitForEvent('go')])

function house() {
  const shared = { storage: createInMemoryStorage(), clock: createManualClock(), ids: createSequenceIds() }
  const start = async (storage: Storage = shared.storage) => {
    const engine = createTestEngine({ ...shared, storage, workflows: [TWICE], maxQueued: 10_000 })
    await engine.recover()
    await engine.start()
    await settled(shared.clock)
    return engine
  }
  const execute = async (engine: Awaited<ReturnType<typeof start>>, count: number) => {
    for (let index = 0; index < count; index++) await engine.execute('twice')
    await rest()
  }
  const rest = async () => {
    for (let round = 0; round < 12; round++) await settled(shared.clock)
  }
  /** What each run has heard, oldest first; `null` for a wait that goes on. */
  const heard = async () => {
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
  return { ...shared, start, execute, rest, heard }
}

const all = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one)
const json = (value: unknown) => JSON.stringify(value) as JsonText

describe('emitEvent', () => {
  it('wakes who waits, once: who waits for the name again is not woken by a retry with the key', async () => {
    const { start, execute, rest, heard } = house()
    const engine = await start()
    await execute(engine, 2)

    const first = await engine.emitEvent({ name: 'go', payload: 1, key: KEY })
    await rest()
    const again = await engine.emitEvent({ name: 'go', payload: 1, key: KEY })
    await rest()

    expect(first.body).toMatchObject({ name: 'go', wokenRunIds: [expect.any(String), expect.any(String)] })
    expect(again).toMatchObject({ replayed: true, json: json(first.body) })
    expect(await heard()).toEqual(all(2, ['1', null]))
  })

  it('takes effect once when the process dies before it has answered', async () => {
    const { storage, start, execute, rest, heard } = house()
    const first = mortal(storage)
    const engine = await start(first.storage)
    await execute(engine, 3)

    first.dieAfter(1)
    engine.emitEvent({ name: 'go', payload: 1, key: KEY })
    await rest()
    expect(first.isDead()).toBe(true)
    const next = await start()
    await rest()
    const retried = await next.emitEvent({ name: 'go', payload: 1, key: KEY })
    await rest()

    expect(retried).toMatchObject({ status: 202, replayed: true })
    expect(await heard()).toEqual(all(3, ['1', null]))
  })

  it.each([1, 2, 3])(
    'reaches everybody who waited, once, when many wait and the process dies after commit %i of it',
    async (commits) => {
      const { storage, start, execute, rest, heard } = house()
      const first = mortal(storage)
      const engine = await start(first.storage)
      await execute(engine, 450)

      first.dieAfter(commits)
      engine.emitEvent({ name: 'go', payload: 1, key: KEY })
      await rest()
      expect(first.isDead()).toBe(true)
      const next = await start()
      await rest()
      const retried = await next.emitEvent({ name: 'go', payload: 1, key: KEY })
      await rest()

      expect(retried).toMatchObject({ status: 202, replayed: true })
      expect(JSON.parse(retried.json ?? '').wokenRunIds).toHaveLength(450)
      expect(await heard()).toEqual(all(450, ['1', null]))
      expect(await storage.emissions.list(10)).toEqual([])
    },
  )

  it('wakes once when the same request comes many times at once, and answers each the same', async () => {
    const { start, execute, rest, heard } = house()
    const engine = await start()
    await execute(engine, 3)

    const replies = await Promise.all(all(5, 0).map(() => engine.emitEvent({ name: 'go', payload: 1, key: KEY })))
    await rest()

    expect(new Set(replies.map(({ body, json: text }) => text ?? json(body))).size).toBe(1)
    expect(await heard()).toEqual(all(3, ['1', null]))
  })

  it('decides again when runs move on between the look and the commit', async () => {
    const { storage, start, execute, rest, heard } = house()
    let meddle = 2
    const engine = await start({
      ...storage,
      unitOfWork: {
        async commit(writes) {
          const isEmission = writes.some(({ type }) => type === 'idempotency.reserve')
          if (isEmission && meddle-- > 0) {
            const [step] = await storage.steps.waitingForEvent('go', 1)
            if (step !== undefined) await engine.emitEvent({ name: 'go', payload: 0, runId: step.runId })
          }
          return storage.unitOfWork.commit(writes)
        },
      },
    })
    await execute(engine, 3)

    await engine.emitEvent({ name: 'go', payload: 1, key: KEY })
    await rest()

    expect(await heard()).toEqual([
      ['0', null],
      ['0', null],
      ['1', null],
    ])
  })

  it('writes what it fires in its own commit, and starts that afterwards', async () => {
    const { storage, clock } = house()
    const order: string[] = []
    const engine = createTestEngine({
      ...{ storage, clock, workflows: [TWICE] },
      fireEventTriggers: async ({ name, payload }) => ({
        writes: [{ type: 'event.append', events: [{ topic: 'fires', type: name, payload, at: clock.now() }] }],
        fireIds: ['fire_1'],
        committed: () => void order.push('committed'),
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
})
