import { createInMemoryBlobStore, createInMemoryStorage } from '@perdure/in-memory'
import { nodeDigest } from '@perdure/platform-node'
import { EVERY_ROW } from '@perdure/ports'
import { aFile, aSession, createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger, untilIdle } from '../engine/test-engine.fixture.ts'
import { oneChunk } from './file-bytes.ts'
import { BLOB_GRACE_MS, createFileSweep, UPLOAD_TTL_MS } from './sweep-files.ts'

function setUp() {
  const storage = createInMemoryStorage()
  const clock = createManualClock()
  const blobs = createInMemoryBlobStore({ clock, digest: nodeDigest })
  const sweep = createFileSweep({ ...storage, blobs, clock, timers: clock, logger: silentLogger })
  return {
    ...{ storage, clock, blobs, sweep },
    put: async (text: string) => (await blobs.put(oneChunk(new TextEncoder().encode(text)))).sha256,
    /** A loop looks at the clock at least every 30 seconds. */
    async advance(ms: number) {
      for (const step of [ms - 30_000, 30_000]) {
        clock.advance(step)
        for (let turn = 0; turn < 10; turn++) await untilIdle(clock)
      }
    },
    isStored: async (sha256: string) => (await blobs.read(sha256)) !== undefined,
  }
}

describe('createFileSweep', () => {
  it('deletes a blob that no file refers to after its grace period, and keeps every other blob', async () => {
    const { storage, clock, sweep, put, advance, isStored } = setUp()
    const [used, leftOver] = [await put('used'), await put('left over')]
    await storage.unitOfWork.commit([{ type: 'file.insert', file: aFile({ sha256: used, createdAt: clock.now() }) }])
    sweep.start()
    await advance(BLOB_GRACE_MS - 1_000)
    const young = await put('young')
    expect(await isStored(leftOver)).toBe(true)

    await advance(600_000)

    expect([await isStored(used), await isStored(leftOver), await isStored(young)]).toEqual([true, false, true])
    await sweep.stop()
  })

  it('deletes a blob after the last session that holds its file', async () => {
    const { storage, clock, sweep, put, advance, isStored } = setUp()
    const sha256 = await put('shared')
    await storage.unitOfWork.commit([
      { type: 'file.insert', file: aFile({ sha256, createdAt: clock.now() }) },
      ...['one', 'two'].map((id) => ({ type: 'session.insert', session: aSession({ id }) }) as const),
      ...['one', 'two'].map(
        (sessionId) => ({ type: 'file.hold', sessionId, ids: [aFile().id], owner: 'alice' }) as const,
      ),
    ])
    sweep.start()
    const answer = { status: 404, body: '{}' }

    await storage.unitOfWork.commit([{ type: 'session.delete', id: 'one', answer }])
    for (let hour = 0; hour < 30; hour++) await advance(3_600_000)
    expect(await isStored(sha256)).toBe(true)

    await storage.unitOfWork.commit([{ type: 'session.delete', id: 'two', answer }])
    await advance(600_000)
    expect(await isStored(sha256)).toBe(false)
    await sweep.stop()
  })

  it('deletes an upload that no session has held for a day, with its blob', async () => {
    const { storage, clock, sweep, put, advance, isStored } = setUp()
    const sha256 = await put('forgotten')
    await storage.unitOfWork.commit([{ type: 'file.insert', file: aFile({ sha256, createdAt: clock.now() }) }])
    sweep.start()

    await advance(UPLOAD_TTL_MS - 60_000)
    expect(await storage.files.find(aFile().id, EVERY_ROW)).toBeDefined()
    await advance(660_000)

    expect(await storage.files.find(aFile().id, EVERY_ROW)).toBeUndefined()
    expect(await isStored(sha256)).toBe(false)
    await sweep.stop()
  })
})
