import { type EpochMs, EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import { bodyOf, createMemoryWorld, textsOf } from './memory.fixture.ts'
import type { ConflictResource } from './memory-resources.ts'

const BLUE = "Alice's favourite colour is certainly blue"
const GREEN = "Alice's favourite colour is certainly green"
const key = (id: string): KeyedRequest => ({ id, fingerprint: 'same' })
const errorOfKind = (kind: string) => expect.objectContaining({ kind })

describe('createWriteFacts', () => {
  it('writes a fact and its event once per key', async () => {
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

  it('rejects a fact that is too long, empty or already expired', async () => {
    const { remember } = createMemoryWorld()

    await expect(remember('ü'.repeat(251))).rejects.toThrow('longer than 500 bytes')
    await expect(remember('  ')).rejects.toThrow('text: is empty')
    await expect(remember('x', { expiresAt: '2025-01-01T00:00:00.000Z' })).rejects.toThrow('expiresAt')
    expect((await remember('ü'.repeat(250))).text).toHaveLength(250)
  })

  it('keeps omitted members on update and removes the expiry for expiresAt null', async () => {
    const { remember, writeFacts, readMemory, advance, texts } = createMemoryWorld()
    const { id } = await remember('one', { tags: ['a'], expiresAt: '2025-01-01T00:00:01.000Z' })

    const update = await writeFacts.update({ id, visibility: EVERY_ROW, change: { expiresAt: null, importance: 1 } })
    await advance(2_000)

    expect(update).toMatchObject({ status: 200, body: { text: 'one', tags: ['a'], importance: 1 } })
    expect((await readMemory.fact(id, EVERY_ROW)).expiresAt).toBeUndefined()
    expect(await texts()).toEqual(['one'])
  })

  it('hides an expired fact from every read', async () => {
    const { remember, writeFacts, advance } = createMemoryWorld()
    const { id } = await remember('one', { expiresAt: '2025-01-01T00:00:01.000Z' })
    await advance(1_000)

    await expect(writeFacts.remove({ id, visibility: EVERY_ROW })).rejects.toEqual(errorOfKind('memory-fact-not-found'))
  })

  it('does not update or delete a fact that the caller cannot see', async () => {
    const { remember, writeFacts, texts } = createMemoryWorld()
    const { id } = await remember('one')
    const visibility = { owner: 'mallory' }

    await expect(writeFacts.update({ id, visibility, change: {} })).rejects.toEqual(
      errorOfKind('memory-fact-not-found'),
    )
    await expect(writeFacts.remove({ id, visibility })).rejects.toEqual(errorOfKind('memory-fact-not-found'))
    expect(await texts()).toEqual(['one'])
  })

  it('loses none of several concurrent updates', async () => {
    const { remember, writeFacts, readMemory } = createMemoryWorld()
    const { id } = await remember('one')
    const update = (change: object) => writeFacts.update({ id, visibility: EVERY_ROW, change })

    await Promise.all([update({ tags: ['a'] }), update({ importance: 1 }), update({ metadata: { k: 'v' } })])

    expect(await readMemory.fact(id, EVERY_ROW)).toMatchObject({ tags: ['a'], importance: 1, metadata: { k: 'v' } })
  })
})

describe('conflict detection', () => {
  it('opens a conflict in the commit that writes the second fact', async () => {
    const { remember, conflicts, eventsOf } = createMemoryWorld()
    await remember(BLUE)
    await remember(GREEN)

    const [conflict, ...others] = await conflicts()
    expect(others).toEqual([])
    expect(conflict).toMatchObject({ status: 'open', owner: 'alice', namespace: 'default' })
    expect(textsOf(conflict as ConflictResource)).toEqual([BLUE, GREEN])
    expect(await eventsOf('memory/conflicts')).toMatchObject([
      { type: 'memory.conflict', payload: { id: conflict?.id } },
    ])
  })

  it('ignores restatements, facts that are not near-duplicates, and facts of another owner or namespace', async () => {
    const { remember, conflicts } = createMemoryWorld()
    await remember(BLUE)
    await remember(GREEN, { owner: 'bob' })
    await remember(GREEN, { namespace: 'work' })
    await remember(`${BLUE.toUpperCase()}`.toLowerCase())
    await remember('Alice likes green tea')

    expect(await conflicts()).toEqual([])
  })

  it('resolves a conflict when one of its facts is changed or deleted', async () => {
    const { remember, conflicts, writeFacts } = createMemoryWorld()
    const berlin = await remember(BLUE)
    const paris = await remember(GREEN)
    await writeFacts.update({ id: paris.id, visibility: EVERY_ROW, change: { text: 'something else altogether' } })
    expect(await conflicts()).toMatchObject([{ status: 'resolved', reason: 'the facts no longer conflict' }])

    await writeFacts.update({ id: paris.id, visibility: EVERY_ROW, change: { text: GREEN } })
    await writeFacts.remove({ id: berlin.id, visibility: EVERY_ROW })

    const [, second] = await conflicts()
    expect(second).toMatchObject({ status: 'resolved', reason: 'one of the facts was deleted' })
  })

  it('opens at most three conflicts per write, with the most similar facts', async () => {
    const { remember, conflicts } = createMemoryWorld()
    const base = 'reading of the old meter in the cellar number'
    for (const number of [1, 2, 3, 4, 5]) await remember(`${base} ${number}`)

    const last = (await conflicts()).filter((conflict) => textsOf(conflict).includes(`${base} 5`))
    expect(last).toHaveLength(3)
  })
})

describe('createResolveMemoryConflict', () => {
  async function createConflict() {
    const world = createMemoryWorld()
    const older = await world.remember(BLUE, { tags: ['a'], importance: 0.9 })
    const newer = await world.remember(GREEN, { tags: ['b'] })
    const [conflict] = await world.conflicts()
    const resolve = (keep: readonly string[], text?: string) =>
      world.resolveMemoryConflict({ conflictId: conflict?.id ?? '', keep, text, by: 'bob', visibility: EVERY_ROW })
    return { ...world, older, newer, resolve }
  }

  it('keeps one fact and deletes the other', async () => {
    const { older, resolve, texts, conflicts, eventsOf } = await createConflict()

    const { body } = await resolve([older.id])

    expect(body).toMatchObject({ status: 'resolved', by: 'bob', facts: [{ id: older.id }] })
    expect(await texts()).toEqual([BLUE])
    expect(await conflicts()).toMatchObject([{ status: 'resolved', by: 'bob' }])
    expect((await eventsOf('memory/events')).at(-1)).toMatchObject({ type: 'memory.fact.deleted' })
  })

  it('keeps both facts and opens no new conflict until one of them changes', async () => {
    const { older, newer, resolve, texts, conflicts, writeFacts } = await createConflict()
    await resolve([older.id, newer.id])
    await writeFacts.update({ id: newer.id, visibility: EVERY_ROW, change: { tags: ['c'] } })
    expect(await texts()).toEqual([BLUE, GREEN])
    expect(await conflicts()).toMatchObject([{ status: 'resolved' }])

    await writeFacts.update({ id: newer.id, visibility: EVERY_ROW, change: { text: GREEN.replace('green', 'red') } })

    expect((await conflicts()).map(({ status }) => status)).toEqual(['resolved', 'open'])
  })

  it('merges both facts into one', async () => {
    const { newer, resolve, texts, readMemory } = await createConflict()
    const text = 'Alice likes blue and green'

    await resolve([newer.id], text)

    expect(await texts()).toEqual([text])
    expect(await readMemory.fact(newer.id, EVERY_ROW)).toMatchObject({ tags: ['a', 'b'], importance: 0.9 })
  })

  it('returns the same answer to the same decision and rejects a different decision', async () => {
    const { older, newer, resolve, texts } = await createConflict()
    const outcomes = await Promise.allSettled([resolve([older.id]), resolve([newer.id])])

    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await texts()).toHaveLength(1)
    const kept = outcomes[0]?.status === 'fulfilled' ? older.id : newer.id
    const dropped = kept === older.id ? newer.id : older.id
    expect(bodyOf(await resolve([kept]))).toMatchObject({ status: 'resolved', facts: [{ id: kept }] })
    await expect(resolve([dropped])).rejects.toEqual(errorOfKind('memory-conflict-resolved'))
    await expect(resolve([older.id, newer.id])).rejects.toEqual(errorOfKind('memory-conflict-resolved'))
  })

  it('rejects a fact that is not part of the conflict or has expired, and changes nothing', async () => {
    const { older, newer, resolve, texts, writeFacts, advance, clock } = await createConflict()
    await expect(resolve(['mem_unknown'])).rejects.toThrow('mem_unknown is not a fact of this conflict')
    await expect(resolve([older.id, newer.id], 'text')).rejects.toThrow('only when one fact is kept')
    const expiresAt = (clock.now() + 1_000) as EpochMs
    await writeFacts.update({ id: older.id, visibility: EVERY_ROW, change: { expiresAt } })
    await advance(1_000)

    await expect(resolve([older.id])).rejects.toThrow('has expired')
    expect(await texts()).toEqual([GREEN])
  })

  it('answers memory-conflict-not-found to a caller that cannot see the conflict', async () => {
    const { conflicts, resolveMemoryConflict, older } = await createConflict()
    const [conflict] = await conflicts()
    const request = { conflictId: conflict?.id ?? '', keep: [older.id], by: 'm', visibility: { owner: 'mallory' } }

    await expect(resolveMemoryConflict(request)).rejects.toEqual(errorOfKind('memory-conflict-not-found'))
  })
})
