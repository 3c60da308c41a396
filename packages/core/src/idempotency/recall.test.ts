import { createInMemoryStorage } from '@perdure/in-memory'
import { type IdempotencyRecord, perdureError } from '@perdure/ports'
import { anIdempotencyRecord, BUILT_AT, createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createRecall } from './recall.ts'

const request = { id: 'key-1', fingerprint: 'same' }

async function setUpRecord(over: Partial<IdempotencyRecord>) {
  const storage = createInMemoryStorage()
  const clock = createManualClock(BUILT_AT)
  const record = anIdempotencyRecord({ ...request, ...over })
  await storage.unitOfWork.commit([{ type: 'idempotency.reserve', record, now: clock.now() }])
  let expected = false
  const idempotency = { ...storage.idempotency, fromCache: () => undefined, expectsRepeats: () => expected }
  const expectRepeats = () => {
    expected = true
  }
  return { clock, expectRepeats, recall: createRecall({ idempotency, clock }) }
}

describe('createRecall', () => {
  it('reads the storage before a commit only while repeats are expected', async () => {
    const { recall, expectRepeats } = await setUpRecord({ response: { status: 204, body: '' } })

    expect(await recall.beforeCommit(request)).toBeUndefined()
    expectRepeats()
    expect(await recall.beforeCommit(request)).toEqual({ status: 204, replayed: true })
  })

  it('leaves the answer to the commit, which waits for the storage, if the storage is out of reach before it', async () => {
    const failing = (error: unknown) =>
      createRecall({
        idempotency: { find: () => Promise.reject(error), expectsRepeats: () => true } as never,
        clock: createManualClock(BUILT_AT),
      })

    expect(await failing(perdureError('storage-unavailable')).beforeCommit(request)).toBeUndefined()
    await expect(failing(perdureError('storage-failed')).beforeCommit(request)).rejects.toMatchObject({
      code: 'storage-failed',
    })
    await expect(failing(perdureError('storage-unavailable'))(request)).rejects.toMatchObject({
      code: 'storage-unavailable',
    })
  })

  it('returns undefined for a new key', async () => {
    const { recall } = await setUpRecord({ id: 'other' })

    expect(await recall(request)).toBeUndefined()
  })

  it('replays a stored answer', async () => {
    const response = { status: 202, body: '{"a":1}', location: '/v1/runs/1', contentType: 'application/json' }
    const { recall } = await setUpRecord({ response, runId: 'run_1' })

    expect(await recall(request)).toEqual({
      status: 202,
      json: '{"a":1}',
      location: '/v1/runs/1',
      contentType: 'application/json',
      runId: 'run_1',
      replayed: true,
    })
  })

  it('replays a 204 without a body', async () => {
    const { recall } = await setUpRecord({ response: { status: 204, body: '' } })

    expect(await recall(request)).toEqual({ status: 204, replayed: true })
  })

  it('rejects a different request with the same key, whether or not the first request was answered', async () => {
    const other = { ...request, fingerprint: 'other' }
    const answered = await setUpRecord({ response: { status: 204, body: '' } })
    const executing = await setUpRecord({})

    await expect(answered.recall(other)).rejects.toMatchObject({ kind: 'idempotency-conflict' })
    await expect(executing.recall(other)).rejects.toMatchObject({ kind: 'idempotency-conflict' })
  })

  it.each([
    [0, 1_000],
    [999, 1_000],
    [12_345, 12_345],
    [30_001, 30_000],
    [86_400_001, 30_000],
  ])('rejects a request that has been in flight for %i ms with retryAfter %i', async (elapsedMs, retryAfterMs) => {
    const { recall, clock } = await setUpRecord({})
    clock.advance(elapsedMs)

    await expect(recall(request)).rejects.toMatchObject({ kind: 'idempotency-in-flight', retryAfter: retryAfterMs })
  })

  it('sets retryAfter to at least a second if the wall clock was set back', async () => {
    const { recall, clock } = await setUpRecord({})
    clock.setWall(BUILT_AT - 3_600_000)

    await expect(recall(request)).rejects.toMatchObject({ retryAfter: 1_000 })
  })

  it('returns undefined from the moment an answer expires', async () => {
    const { recall, clock } = await setUpRecord({ response: { status: 204, body: '' } })

    clock.advance(86_400_000 - 1)
    expect(await recall(request)).toBeDefined()
    clock.advance(1)
    expect(await recall(request)).toBeUndefined()
  })
})
