import { createInMemoryMeter, createInMemoryStorage } from '@perdure/in-memory'
import { type EpochMs, type IdempotencyRecord, type Meter, noMeter, perdureError } from '@perdure/ports'
import { anIdempotencyRecord, BUILT_AT } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { withReadCache } from './read-cache.ts'

const at = (ms: number) => (BUILT_AT + ms) as EpochMs
const response = { status: 200, body: '{}' }

/** A cached store, and the ids that it read from the storage. */
async function cached(
  records: readonly Partial<IdempotencyRecord>[],
  meter: Meter = noMeter,
  isCurrent?: () => boolean,
) {
  const storage = createInMemoryStorage()
  for (const over of records) {
    const record = anIdempotencyRecord({ id: 'k', ...over })
    await storage.unitOfWork.commit([{ type: 'idempotency.reserve', record, now: at(0) }])
  }
  const reads: string[] = []
  const store = withReadCache(
    {
      ...storage.idempotency,
      find(id, now) {
        reads.push(id)
        return storage.idempotency.find(id, now)
      },
    },
    meter,
    isCurrent,
  )
  return { store, reads, storage }
}

describe('withReadCache', () => {
  it('reads an answered record from the storage once', async () => {
    const { store, reads } = await cached([{ response }])

    const first = await store.find('k', at(0))
    expect(await store.find('k', at(1))).toEqual(first)

    expect(first?.response).toEqual(response)
    expect(reads).toEqual(['k'])
  })

  it('answers nothing from memory while deletions by other processes may be unknown', async () => {
    let isCurrent = true
    const { store, reads } = await cached([{ response }], noMeter, () => isCurrent)
    await store.find('k', at(0))

    isCurrent = false
    expect(store.fromCache('k', at(0))).toBeUndefined()
    await store.find('k', at(0))
    isCurrent = true
    await store.find('k', at(0))

    expect(reads).toEqual(['k', 'k'])
  })

  it('reports the hit ratio', async () => {
    const meter = createInMemoryMeter()
    const { store } = await cached([{ response }], meter)

    for (let n = 0; n < 4; n++) await store.find('k', at(0))

    expect(meter.values.get('svc_idempotency_hit_ratio')).toBe(0.75)
  })

  it('does not cache a missing record or a record without an answer', async () => {
    const { store, reads, storage } = await cached([{ runId: 'run_1' }])

    expect((await store.find('k', at(0)))?.response).toBeUndefined()
    expect(await store.find('missing', at(0))).toBeUndefined()
    await storage.unitOfWork.commit([{ type: 'idempotency.complete', runId: 'run_1', response }])

    expect((await store.find('k', at(0)))?.response).toEqual(response)
    expect(reads).toEqual(['k', 'missing', 'k'])
  })

  it('evicts a record at the moment it expires', async () => {
    const { store, reads } = await cached([{ response, expiresAt: at(100) }])
    await store.find('k', at(0))

    expect(await store.find('k', at(99))).toBeDefined()
    expect(await store.find('k', at(100))).toBeUndefined()
    expect(reads).toEqual(['k', 'k'])
  })

  it('returns a record from the cache only if it was read before', async () => {
    const { store, reads } = await cached([{ response }])

    expect(store.fromCache('k', at(0))).toBeUndefined()
    await store.find('k', at(0))

    expect(store.fromCache('k', at(1))?.response).toEqual(response)
    expect(reads).toEqual(['k'])
  })

  it('caches a record that was read elsewhere, unless the cache was cleared since', async () => {
    const { store, reads } = await cached([])
    const remember = store.startReading()
    const rememberLate = store.startReading()

    remember(anIdempotencyRecord({ id: 'met', response }))
    expect(store.fromCache('met', at(0))?.id).toBe('met')
    store.clear()
    rememberLate(anIdempotencyRecord({ id: 'met', response }))

    expect(store.fromCache('met', at(0))).toBeUndefined()
    expect(reads).toEqual([])
  })

  it('expects repeats while most of the latest keys were repeated, whoever found them', async () => {
    const { store } = await cached([])
    const meet = (id: string, isRepeated: boolean) => {
      store.startReading()(isRepeated ? anIdempotencyRecord({ id }) : undefined)
    }

    expect(store.expectsRepeats()).toBe(false)
    for (let n = 0; n < 20; n++) meet(`r${n}`, true)
    expect(store.expectsRepeats()).toBe(true)
    for (let n = 0; n < 40; n++) meet(`m${n}`, n % 3 > 0)
    expect(store.expectsRepeats()).toBe(true)
    for (let n = 0; n < 20; n++) meet(`n${n}`, false)
    expect(store.expectsRepeats()).toBe(false)
  })

  it('expects repeats although many keys are looked up at once', async () => {
    const { store } = await cached(Array.from({ length: 200 }, (_, n) => ({ id: `k${n}`, response })))
    for (let n = 0; n < 100; n++) await store.find(`k${n}`, at(0))

    const found = Array.from({ length: 100 }, (_, n) => store.find(`k${n + 100}`, at(0)))
    expect(store.expectsRepeats()).toBe(true)
    await Promise.all(found)
  })

  it('expects no repeats after a read that failed', async () => {
    const failure = perdureError('storage-unavailable')
    const find = () => Promise.reject(failure)
    const store = withReadCache({ find } as never, noMeter)
    for (let n = 0; n < 20; n++) store.startReading()(anIdempotencyRecord({ id: `r${n}` }))
    expect(store.expectsRepeats()).toBe(true)

    await expect(store.find('k', at(0))).rejects.toBe(failure)
    expect(store.expectsRepeats()).toBe(false)
  })

  it('does not cache long answers', async () => {
    const { store, reads } = await cached([
      { id: 'long', response: { status: 200, body: 'x'.repeat(16_385) } },
      { id: 'fits', response: { status: 200, body: 'x'.repeat(16_384) } },
    ])

    for (const id of ['long', 'fits', 'long', 'fits']) await store.find(id, at(0))

    expect(reads).toEqual(['long', 'fits', 'long'])
  })

  it('caches 2,000 records and evicts the least recently read record', async () => {
    const ids = Array.from({ length: 2_001 }, (_, n) => `k${n}`)
    const { store, reads } = await cached(ids.map((id) => ({ id, response })))
    for (const id of ids.slice(0, 2_000)) await store.find(id, at(0))
    await store.find('k0', at(0))

    await store.find('k2000', at(0))
    reads.length = 0
    for (const id of ['k0', 'k2', 'k2000', 'k1']) await store.find(id, at(0))

    expect(reads).toEqual(['k1'])
  })
})
