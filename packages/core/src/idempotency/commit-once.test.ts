import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type UnitOfWork } from '@perdure/ports'
import { aRun, createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { commitOnce, type Decision, toStoredResponse } from './commit-once.ts'
import { createRecall } from './recall.ts'

const key = { id: 'key-1', fingerprint: 'same' }
const reply = { status: 201, body: { made: true }, location: '/v1/things/1' }
const RUN = aRun()

function setUp() {
  const storage = createInMemoryStorage()
  const clock = createManualClock()
  const deps = { unitOfWork: storage.unitOfWork, clock, idempotencyTtlMs: 1_000 }
  return { storage, clock, deps, recall: createRecall({ idempotency: storage.idempotency, clock }) }
}

const decisionOf = (over: Partial<Decision> = {}): Decision => ({ writes: [], reply, remember: true, ...over })

describe('commitOnce', () => {
  it('commits the writes together with the idempotency record', async () => {
    const { deps, storage, recall } = setUp()

    const result = await commitOnce(deps, key, async () => decisionOf({ writes: [{ type: 'run.insert', run: RUN }] }))

    expect(result).toMatchObject({ kind: 'committed', decision: { reply } })
    expect(await storage.runs.find(RUN.id, EVERY_ROW)).toEqual(RUN)
    expect(await recall(key)).toEqual({ status: 201, json: '{"made":true}', location: '/v1/things/1', replayed: true })
  })

  it('stores an answer until its TTL expires', async () => {
    const { deps, clock, recall } = setUp()
    await commitOnce(deps, key, async () => decisionOf())

    clock.advance(999)
    expect(await recall(key)).toBeDefined()
    clock.advance(1)
    expect(await recall(key)).toBeUndefined()
  })

  it('keeps the key in flight if the answer is not stored', async () => {
    const { deps, recall } = setUp()
    await commitOnce(deps, key, async () => decisionOf({ remember: false, runId: RUN.id }))

    await expect(recall(key)).rejects.toMatchObject({ kind: 'idempotency-in-flight' })
  })

  it('stores no idempotency record without a key', async () => {
    const { deps, recall } = setUp()

    expect(await commitOnce(deps, undefined, async () => decisionOf())).toMatchObject({ kind: 'committed' })
    expect(await recall(key)).toBeUndefined()
  })

  it('stores no idempotency record if decide throws', async () => {
    const { deps, recall } = setUp()
    const refused = commitOnce(deps, key, () => Promise.reject(new Error('refused')))

    await expect(refused).rejects.toThrow('refused')
    expect(await recall(key)).toBeUndefined()
  })

  it('commits one of many concurrent requests with one key and returns its answer to the others', async () => {
    const { deps, storage } = setUp()
    let discarded = 0
    const commit = (n: number) =>
      commitOnce(deps, key, async () =>
        decisionOf({
          writes: [{ type: 'run.insert', run: aRun({ id: `run_${n}` }) }],
          reply: { status: 201, body: n },
          discard: () => discarded++,
        }),
      )

    const all = await Promise.all(Array.from({ length: 20 }, (_, n) => commit(n)))

    expect(all.filter(({ kind }) => kind === 'committed')).toHaveLength(1)
    expect(discarded).toBe(19)
    const { items } = await storage.runs.list({}, { limit: 50, order: 'asc' }, EVERY_ROW)
    const [made] = items
    expect(items).toHaveLength(1)
    const answers = all.flatMap((one) => (one.kind === 'replayed' ? [one.reply.json] : []))
    expect(new Set(answers.map((answer) => `run_${answer}`))).toEqual(new Set([made?.id]))
  })

  it('throws idempotency-conflict for a different request with the same key', async () => {
    const { deps } = setUp()
    await commitOnce(deps, key, async () => decisionOf())

    const other = commitOnce(deps, { ...key, fingerprint: 'other' }, async () => decisionOf())

    await expect(other).rejects.toMatchObject({ kind: 'idempotency-conflict' })
  })

  it.each([[key], [undefined]])('calls decide again after a write conflict, with the key %j', async (keyOrNone) => {
    const { deps, storage } = setUp()
    await storage.unitOfWork.commit([{ type: 'run.insert', run: RUN }])
    const ids = [RUN.id, RUN.id, 'run_free']
    let tries = 0

    const result = await commitOnce(deps, keyOrNone, async () =>
      decisionOf({ writes: [{ type: 'run.insert', run: aRun({ id: ids[tries++] as string }) }] }),
    )

    expect([result.kind, tries]).toEqual(['committed', 3])
  })

  it('gives up after 100 conflicts and discards the preparation of each attempt', async () => {
    const { deps, storage, recall } = setUp()
    await storage.unitOfWork.commit([{ type: 'run.insert', run: RUN }])
    let prepared = 0
    let discarded = 0

    const result = commitOnce(deps, key, async () => {
      prepared++
      return decisionOf({ writes: [{ type: 'run.insert', run: RUN }], discard: () => discarded++ })
    })

    await expect(result).rejects.toMatchObject({ kind: 'internal-error' })
    expect([prepared, discarded]).toEqual([100, 100])
    expect(await recall(key)).toBeUndefined()
  })

  it.each([[1], [0]])('rethrows a storage error and calls discard %i times', async (expected) => {
    const unitOfWork: UnitOfWork = { commit: () => Promise.reject(new Error('disk')) }
    let discarded = 0
    const discard = expected === 0 ? {} : { discard: () => void discarded++ }

    const result = commitOnce({ ...setUp().deps, unitOfWork }, key, async () => decisionOf(discard))

    await expect(result).rejects.toThrow('disk')
    expect(discarded).toBe(expected)
  })
})

describe('toStoredResponse', () => {
  it('keeps the exact JSON text of a reply', () => {
    const json = '{"n":1.0}' as NonNullable<Parameters<typeof toStoredResponse>[0]['json']>

    expect(toStoredResponse({ status: 200, json }).body).toBe('{"n":1.0}')
    expect(toStoredResponse({ status: 200, body: { n: 1 } }).body).toBe('{"n":1}')
    expect(toStoredResponse({ status: 204 }).body).toBe('')
  })
})
