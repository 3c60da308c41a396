import { createInMemoryMeter, createInMemoryStorage } from '@perdure/in-memory'
import { type EpochMs, type IdempotencyRecord, type Meter, noMeter } from '@perdure/ports'
import { anIdempotencyRecord, BUILT_AT } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { withReadCache } from './read-cache.ts'

const at = (ms: number) => (BUILT_AT + ms) as EpochMs
const response = { status: 200, body: '{}' }

/** A cached store, and the ids for which it had to ask the storage. */
async function cached(records: readonly Partial<IdempotencyRecord>[], meter: Meter = noMeter) {
  const storage = createInMemoryStorage()
  for (const over of records) {
    const record = anIdempotencyRecord({ id: 'k', ...over })
    await storage.unitOfWork.commit([{ type: 'idempotency.reserve', record, now: at(0) }])
  }
  const asked: string[] = []
  const store = withReadCache(
    {
      find(id, now) {
        asked.push(id)
        return storage.idempotency.find(id, now)
      },
    },
    meter,
  )
  return { store, asked, storage }
}

describe('withReadCache', () => {
  it('asks the storage once for an answered record', async () => {
    const { store, asked } = await cached([{ response }])

    const first = await store.find('k', at(0))
    expect(await store.find('k', at(1))).toEqual(first)

    expect(first?.response).toEqual(response)
    expect(asked).toEqual(['k'])
  })

  it('tells which share of the look-ups it answered', async () => {
    const meter = createInMemoryMeter()
    const { store } = await cached([{ response }], meter)

    for (let n = 0; n < 4; n++) await store.find('k', at(0))

    expect(meter.values.get('svc_idempotency_hit_ratio')).toBe(0.75)
  })

  it('does not remember what is executing or absent', async () => {
    const { store, asked, storage } = await cached([{ runId: 'run_1' }])

    expect((await store.find('k', at(0)))?.response).toBeUndefined()
    expect(await store.find('nobody', at(0))).toBeUndefined()
    await storage.unitOfWork.commit([{ type: 'idempotency.complete', runId: 'run_1', response }])

    expect((await store.find('k', at(0)))?.response).toEqual(response)
    expect(asked).toEqual(['k', 'nobody', 'k'])
  })

  it('forgets a record at the moment it expires', async () => {
    const { store, asked } = await cached([{ response, expiresAt: at(100) }])
    await store.find('k', at(0))

    expect(await store.find('k', at(99))).toBeDefined()
    expect(await store.find('k', at(100))).toBeUndefined()
    expect(asked).toEqual(['k', 'k'])
  })

  it('knows without the storage only what was read before', async () => {
    const { store, asked } = await cached([{ response }])

    expect(store.known('k', at(0))).toBeUndefined()
    await store.find('k', at(0))

    expect(store.known('k', at(1))?.response).toEqual(response)
    expect(asked).toEqual(['k'])
  })

  it('remembers what was read elsewhere, unless answers were forgotten since', async () => {
    const { store, asked } = await cached([])
    const remember = store.startReading()
    const late = store.startReading()

    remember(anIdempotencyRecord({ id: 'met', response }))
    expect(store.known('met', at(0))?.id).toBe('met')
    store.clear()
    late(anIdempotencyRecord({ id: 'met', response }))

    expect(store.known('met', at(0))).toBeUndefined()
    expect(asked).toEqual([])
  })

  it('does not hold long answers', async () => {
    const { store, asked } = await cached([
      { id: 'long', response: { status: 200, body: 'x'.repeat(16_385) } },
      { id: 'fits', response: { status: 200, body: 'x'.repeat(16_384) } },
    ])

    for (const id of ['long', 'fits', 'long', 'fits']) await store.find(id, at(0))

    expect(asked).toEqual(['long', 'fits', 'long'])
  })

  it('holds 2,000 records and forgets the one that was not read for longest', async () => {
    const ids = Array.from({ length: 2_001 }, (_, n) => `k${n}`)
    const { store, asked } = await cached(ids.map((id) => ({ id, response })))
    for (const id of ids.slice(0, 2_000)) await store.find(id, at(0))
    await store.find('k0', at(0))

    await store.find('k2000', at(0))
    asked.length = 0
    for (const id of ['k0', 'k2', 'k2000', 'k1']) await store.find(id, at(0))

    expect(asked).toEqual(['k1'])
  })
})
