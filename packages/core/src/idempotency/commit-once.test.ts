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
  it('commits the writes and the memory of the key together', async () => {
    const { deps, storage, recall } = setUp()

    const once = await commitOnce(deps, key, async () => decisionOf({ writes: [{ type: 'run.insert', run: RUN }] }))

    expect(once).toMatchObject({ kind: 'committed', decision: { reply } })
    expect(await storage.runs.find(RUN.id, EVERY_ROW)).toEqual(RUN)
    expect(await recall(key)).toEqual({ status: 201, json: '{"made":true}', location: '/v1/things/1', replayed: true })
  })

  it('remembers an answer for its time and no longer', async () => {
    const { deps, clock, recall } = setUp()
    await commitOnce(deps, key, async () => decisionOf())

    clock.advance(999)
    expect(await recall(key)).toBeDefined()
    clock.advance(1)
    expect(await recall(key)).toBeUndefined()
  })

  it('keeps the key in flight when the answer is not to be remembered', async () => {
    const { deps, recall } = setUp()
    await commitOnce(deps, key, async () => decisionOf({ remember: false, runId: RUN.id }))

    await expect(recall(key)).rejects.toMatchObject({ kind: 'idempotency-in-flight' })
  })

  it('writes no memory without a key', async () => {
    const { deps, recall } = setUp()

    expect(await commitOnce(deps, undefined, async () => decisionOf())).toMatchObject({ kind: 'committed' })
    expect(await recall(key)).toBeUndefined()
  })

  it('leaves no memory of a refusal', async () => {
    const { deps, recall } = setUp()
    const refused = commitOnce(deps, key, () => Promise.reject(new Error('refused')))

    await expect(refused).rejects.toThrow('refused')
    expect(await recall(key)).toBeUndefined()
  })

  it('lets one of many with the same key take effect and gives its answer to the others', async () => {
    const { deps, storage } = setUp()
    let discarded = 0
    const once = (n: number) =>
      commitOnce(deps, key, async () =>
        decisionOf({
          writes: [{ type: 'run.insert', run: aRun({ id: `run_${n}` }) }],
          reply: { status: 201, body: n },
          discard: () => discarded++,
        }),
      )

    const all = await Promise.all(Array.from({ length: 20 }, (_, n) => once(n)))

    expect(all.filter(({ kind }) => kind === 'committed')).toHaveLength(1)
    expect(discarded).toBe(19)
    const { items } = await storage.runs.list({}, { limit: 50, order: 'asc' }, EVERY_ROW)
    const [made] = items
    expect(items).toHaveLength(1)
    const answers = all.flatMap((one) => (one.kind === 'replayed' ? [one.reply.json] : []))
    expect(new Set(answers.map((answer) => `run_${answer}`))).toEqual(new Set([made?.id]))
  })

  it('refuses a request that loses against another request with its key', async () => {
    const { deps } = setUp()
    await commitOnce(deps, key, async () => decisionOf())

    const other = commitOnce(deps, { ...key, fingerprint: 'other' }, async () => decisionOf())

    await expect(other).rejects.toMatchObject({ kind: 'idempotency-conflict' })
  })

  it.each([[key], [undefined]])('decides again when another writer was faster, with the key %j', async (given) => {
    const { deps, storage } = setUp()
    await storage.unitOfWork.commit([{ type: 'run.insert', run: RUN }])
    const ids = [RUN.id, RUN.id, 'run_free']
    let tries = 0

    const once = await commitOnce(deps, given, async () =>
      decisionOf({ writes: [{ type: 'run.insert', run: aRun({ id: ids[tries++] as string }) }] }),
    )

    expect([once.kind, tries]).toEqual(['committed', 3])
  })

  it('gives up in the end, undoing what each try had prepared', async () => {
    const { deps, storage, recall } = setUp()
    await storage.unitOfWork.commit([{ type: 'run.insert', run: RUN }])
    let prepared = 0
    let discarded = 0

    const once = commitOnce(deps, key, async () => {
      prepared++
      return decisionOf({ writes: [{ type: 'run.insert', run: RUN }], discard: () => discarded++ })
    })

    await expect(once).rejects.toMatchObject({ kind: 'internal-error' })
    expect([prepared, discarded]).toEqual([100, 100])
    expect(await recall(key)).toBeUndefined()
  })

  it.each([[1], [0]])('passes on a failure of the storage, undoing %i preparation', async (expected) => {
    const unitOfWork: UnitOfWork = { commit: () => Promise.reject(new Error('disk')) }
    let discarded = 0
    const discard = expected === 0 ? {} : { discard: () => void discarded++ }

    const once = commitOnce({ ...setUp().deps, unitOfWork }, key, async () => decisionOf(discard))

    await expect(once).rejects.toThrow('disk')
    expect(discarded).toBe(expected)
  })
})

describe('toStoredResponse', () => {
  it('keeps the exact text of an answer', () => {
    const json = '{"n":1.0}' as NonNullable<Parameters<typeof toStoredResponse>[0]['json']>

    expect(toStoredResponse({ status: 200, json }).body).toBe('{"n":1.0}')
    expect(toStoredResponse({ status: 200, body: { n: 1 } }).body).toBe('{"n":1}')
    expect(toStoredResponse({ status: 204 }).body).toBe('')
  })
})
