import { type EpochMs, EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import { bodyOf, createMemoryWorld, textsOf } from './memory.fixture.ts'
import type { ConflictResource } from './memory-resources.ts'

const BERLIN = "Alice's favourite colour is certainly blue"
const PARIS = "Alice's favourite colour is certainly green"
const key = (id: string): KeyedRequest => ({ id, fingerprint: 'same' })
const refusedAs = (kind: string) => expect.objectContaining({ kind })

describe('a fact', () => {
  it('is written once under its key, with its event', async () => {
    const { writeFacts, texts, eventsOf } = createMemoryWorld()
    const create = () => writeFacts.create({ input: { text: 'one', tags: ['a', 'a'] }, owner: 'alice', key: key('k') })

    const first = await create()
    const second = await create()

    expect(first).toMatchObject({
      status: 201,
      body: { text: 'one', tags: ['a'], namespace: 'default', owner: 'alice' },
    })
    expect(second).toMatchObject({ status: 201, replayed: true, location: first.location })
    expect(await texts()).toEqual(['one'])
    expect((await eventsOf('memory/events')).map(({ type }) => type)).toEqual(['memory.fact.written'])
  })

  it('is refused when it is too long, empty or expired from the start', async () => {
    const { remember } = createMemoryWorld()

    await expect(remember('ü'.repeat(251))).rejects.toThrow('longer than 500 bytes')
    await expect(remember('  ')).rejects.toThrow('text: is empty')
    await expect(remember('x', { expiresAt: '2025-01-01T00:00:00.000Z' })).rejects.toThrow('expiresAt')
    expect((await remember('ü'.repeat(250))).text).toHaveLength(250)
  })

  it('keeps what a change does not name, and lives on when its expiry is taken away', async () => {
    const { remember, writeFacts, readMemory, pass, texts } = createMemoryWorld()
    const { id } = await remember('one', { tags: ['a'], expiresAt: '2025-01-01T00:00:01.000Z' })

    const update = await writeFacts.update({ id, visibility: EVERY_ROW, change: { expiresAt: null, importance: 1 } })
    await pass(2_000)

    expect(update).toMatchObject({ status: 200, body: { text: 'one', tags: ['a'], importance: 1 } })
    expect((await readMemory.fact(id, EVERY_ROW)).expiresAt).toBeUndefined()
    expect(await texts()).toEqual(['one'])
  })

  it('is gone for everything once it has expired', async () => {
    const { remember, writeFacts, pass } = createMemoryWorld()
    const { id } = await remember('one', { expiresAt: '2025-01-01T00:00:01.000Z' })
    await pass(1_000)

    await expect(writeFacts.remove({ id, visibility: EVERY_ROW })).rejects.toEqual(refusedAs('memory-fact-not-found'))
  })

  it('is neither changed nor deleted by who may not see it', async () => {
    const { remember, writeFacts, texts } = createMemoryWorld()
    const { id } = await remember('one')
    const visibility = { owner: 'mallory' }

    await expect(writeFacts.update({ id, visibility, change: {} })).rejects.toEqual(refusedAs('memory-fact-not-found'))
    await expect(writeFacts.remove({ id, visibility })).rejects.toEqual(refusedAs('memory-fact-not-found'))
    expect(await texts()).toEqual(['one'])
  })

  it('loses no change of two that meet', async () => {
    const { remember, writeFacts, readMemory } = createMemoryWorld()
    const { id } = await remember('one')
    const update = (change: object) => writeFacts.update({ id, visibility: EVERY_ROW, change })

    await Promise.all([update({ tags: ['a'] }), update({ importance: 1 }), update({ metadata: { k: 'v' } })])

    expect(await readMemory.fact(id, EVERY_ROW)).toMatchObject({ tags: ['a'], importance: 1, metadata: { k: 'v' } })
  })
})

describe('facts that disagree', () => {
  it('open a conflict in the commit that writes the second', async () => {
    const { remember, conflicts, eventsOf } = createMemoryWorld()
    await remember(BERLIN)
    await remember(PARIS)

    const [conflict, ...others] = await conflicts()
    expect(others).toEqual([])
    expect(conflict).toMatchObject({ status: 'open', owner: 'alice', namespace: 'default' })
    expect(textsOf(conflict as ConflictResource)).toEqual([BERLIN, PARIS])
    expect(await eventsOf('memory/conflicts')).toMatchObject([
      { type: 'memory.conflict', payload: { id: conflict?.id } },
    ])
  })

  it('are of one owner and one namespace, near-duplicates, and do not say the same', async () => {
    const { remember, conflicts } = createMemoryWorld()
    await remember(BERLIN)
    await remember(PARIS, { owner: 'bob' })
    await remember(PARIS, { namespace: 'work' })
    await remember(`${BERLIN.toUpperCase()}`.toLowerCase())
    await remember('Alice likes green tea')

    expect(await conflicts()).toEqual([])
  })

  it('no longer stand in conflict once one of them is changed or deleted', async () => {
    const { remember, conflicts, writeFacts } = createMemoryWorld()
    const berlin = await remember(BERLIN)
    const paris = await remember(PARIS)
    await writeFacts.update({ id: paris.id, visibility: EVERY_ROW, change: { text: 'something else altogether' } })
    expect(await conflicts()).toMatchObject([{ status: 'resolved', reason: 'the facts no longer disagree' }])

    await writeFacts.update({ id: paris.id, visibility: EVERY_ROW, change: { text: PARIS } })
    await writeFacts.remove({ id: berlin.id, visibility: EVERY_ROW })

    const [, second] = await conflicts()
    expect(second).toMatchObject({ status: 'resolved', reason: 'a fact of it was deleted' })
  })

  it('open three conflicts at most at once, with those most alike', async () => {
    const { remember, conflicts } = createMemoryWorld()
    const base = 'reading of the old meter in the cellar number'
    for (const number of [1, 2, 3, 4, 5]) await remember(`${base} ${number}`)

    const last = (await conflicts()).filter((conflict) => textsOf(conflict).includes(`${base} 5`))
    expect(last).toHaveLength(3)
  })
})

describe('a decision of a conflict', () => {
  async function disputed() {
    const world = createMemoryWorld()
    const older = await world.remember(BERLIN, { tags: ['a'], importance: 0.9 })
    const newer = await world.remember(PARIS, { tags: ['b'] })
    const [conflict] = await world.conflicts()
    const resolve = (keep: readonly string[], text?: string) =>
      world.resolveMemoryConflict({ conflictId: conflict?.id ?? '', keep, text, by: 'bob', visibility: EVERY_ROW })
    return { ...world, older, newer, resolve }
  }

  it('keeps the one and deletes the other', async () => {
    const { older, resolve, texts, conflicts, eventsOf } = await disputed()

    const { body } = await resolve([older.id])

    expect(body).toMatchObject({ status: 'resolved', by: 'bob', facts: [{ id: older.id }] })
    expect(await texts()).toEqual([BERLIN])
    expect(await conflicts()).toMatchObject([{ status: 'resolved', by: 'bob' }])
    expect((await eventsOf('memory/events')).at(-1)).toMatchObject({ type: 'memory.fact.deleted' })
  })

  it('keeps both, and does not ask again until one of them changes', async () => {
    const { older, newer, resolve, texts, conflicts, writeFacts } = await disputed()
    await resolve([older.id, newer.id])
    await writeFacts.update({ id: newer.id, visibility: EVERY_ROW, change: { tags: ['c'] } })
    expect(await texts()).toEqual([BERLIN, PARIS])
    expect(await conflicts()).toMatchObject([{ status: 'resolved' }])

    await writeFacts.update({ id: newer.id, visibility: EVERY_ROW, change: { text: PARIS.replace('green', 'red') } })

    expect((await conflicts()).map(({ status }) => status)).toEqual(['resolved', 'open'])
  })

  it('merges both into one', async () => {
    const { newer, resolve, texts, readMemory } = await disputed()
    const text = 'Alice likes blue and green'

    await resolve([newer.id], text)

    expect(await texts()).toEqual([text])
    expect(await readMemory.fact(newer.id, EVERY_ROW)).toMatchObject({ tags: ['a', 'b'], importance: 0.9 })
  })

  it('is made once: the same again is the same answer, another is refused', async () => {
    const { older, newer, resolve, texts } = await disputed()
    const outcomes = await Promise.allSettled([resolve([older.id]), resolve([newer.id])])

    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await texts()).toHaveLength(1)
    const kept = outcomes[0]?.status === 'fulfilled' ? older.id : newer.id
    const dropped = kept === older.id ? newer.id : older.id
    expect(bodyOf(await resolve([kept]))).toMatchObject({ status: 'resolved', facts: [{ id: kept }] })
    await expect(resolve([dropped])).rejects.toEqual(refusedAs('memory-conflict-resolved'))
    await expect(resolve([older.id, newer.id])).rejects.toEqual(refusedAs('memory-conflict-resolved'))
  })

  it('is refused, and loses nothing, when it names a fact that is not part of it or has expired', async () => {
    const { older, newer, resolve, texts, writeFacts, pass, clock } = await disputed()
    await expect(resolve(['mem_unknown'])).rejects.toThrow('mem_unknown is no fact of this conflict')
    await expect(resolve([older.id, newer.id], 'text')).rejects.toThrow('goes with one fact')
    const expiresAt = (clock.now() + 1_000) as EpochMs
    await writeFacts.update({ id: older.id, visibility: EVERY_ROW, change: { expiresAt } })
    await pass(1_000)

    await expect(resolve([older.id])).rejects.toThrow('has expired')
    expect(await texts()).toEqual([PARIS])
  })

  it('is nobody’s who may not see it', async () => {
    const { conflicts, resolveMemoryConflict, older } = await disputed()
    const [conflict] = await conflicts()
    const request = { conflictId: conflict?.id ?? '', keep: [older.id], by: 'm', visibility: { owner: 'mallory' } }

    await expect(resolveMemoryConflict(request)).rejects.toEqual(refusedAs('memory-conflict-not-found'))
  })
})
