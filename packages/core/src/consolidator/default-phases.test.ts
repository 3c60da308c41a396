import { type EpochMs, EVERY_ROW, type FactRecord, wordsOf } from '@perdure/ports'
import { aFact } from '@perdure/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld, DAY, type MemoryOptions } from '../memory/memory.fixture.ts'

/** Memory and consolidator for tests that run a phase to completion. */
function createConsolidatingWorld(options: MemoryOptions = {}) {
  const world = createMemoryWorld(options)
  for (const daemon of world.daemons) daemon.start()
  const facts = async () => {
    const page = { limit: 200, order: 'asc' } as const
    return (await world.storage.facts.list({ now: world.clock.now(), visibility: EVERY_ROW }, page)).items
  }
  return {
    ...world,
    facts,
    async do(phase: 'merge' | 'decay') {
      await world.queueConsolidation.queue({ phase })
      await world.advance(0)
    },
  }
}

describe('the merge phase', () => {
  it('merges facts with the same statement and keeps the most complete wording', async () => {
    const { remember, do: consolidate, texts } = createConsolidatingWorld()
    await remember('harbour opens at six.')
    await remember('The harbour opens at six')
    await remember('  the harbour\n opens at six')
    await remember('The harbour opens at seven')

    await consolidate('merge')

    expect(await texts()).toEqual(['The harbour opens at six', 'The harbour opens at seven'])
  })

  it('combines tags and metadata and keeps the highest importance and the latest expiry', async () => {
    const { remember, do: consolidate, facts } = createConsolidatingWorld()
    await remember('one', { tags: ['a'], metadata: { x: '1' }, expiresAt: '2025-01-02T00:00:00.000Z' })
    await remember('One.', { tags: ['b'], metadata: { y: '2' }, importance: 0.9 })

    await consolidate('merge')

    expect(await facts()).toMatchObject([
      { text: 'one', tags: ['a', 'b'], metadata: { x: '1', y: '2' }, importance: 0.9, expiresAt: undefined },
    ])
  })

  it('does not merge facts with contradictory metadata or of different namespaces or owners', async () => {
    const { remember, do: consolidate, texts } = createConsolidatingWorld()
    await remember('one', { metadata: { x: '1' } })
    await remember('one', { metadata: { x: '2' } })
    await remember('one', { namespace: 'work' })
    await remember('one', { owner: 'bob' })

    await consolidate('merge')

    expect(await texts()).toHaveLength(4)
  })

  it('does not merge facts in an open conflict', async () => {
    const { remember, do: consolidate, texts, conflicts } = createConsolidatingWorld()
    await remember("Alice's favourite colour is blue")
    await remember("Alice's favourite colour is green")
    await remember("alice's favourite colour is blue")

    await consolidate('merge')

    expect(await texts()).toHaveLength(3)
    expect((await conflicts()).every(({ status }) => status === 'open')).toBe(true)
  })

  it('continues until no duplicates are left', async () => {
    const { storage, do: consolidate, advance } = createConsolidatingWorld()
    const facts = Array.from({ length: 900 }, (_, index) =>
      aFact({ id: `mem-${index}`, text: `text ${index % 450}`, fingerprint: `f${index % 450}` }),
    )
    await storage.unitOfWork.commit(facts.map((fact) => ({ type: 'fact.insert', fact }) as const))

    await consolidate('merge')
    await advance(0)

    expect(await storage.factUpkeep.repeated({ now: 0 as EpochMs }, 9)).toEqual([])
    const page = { limit: 1_000, order: 'asc' } as const
    const { items } = await storage.facts.list({ now: 0 as EpochMs, visibility: EVERY_ROW }, page)
    expect(items).toHaveLength(450)
  })

  it('keeps exactly one fact for each distinct statement', async () => {
    const noise = fc.constantFrom<(text: string) => string>(
      (text) => text,
      (text) => `${text}.`,
      (text) => text.toLowerCase(),
      (text) => ` ${text.replaceAll(' ', '  ')}`,
      (text) => `the ${text}`,
      (text) => `Please ${text}!`,
      (text) =>
        text
          .split(' ')
          .map((word) => `"${word}"`)
          .join(' '),
    )
    const word = fc.constantFrom('Alice', 'Bob', 'likes', 'not', 'tea', 'C', 'C++', '5', '-5', 'Berlin', 'never', 'x')
    const distinct = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join(' '))
    const corpus = fc.array(fc.tuple(distinct, noise, fc.constantFrom('alice', 'bob')), { maxLength: 25 })

    await fc.assert(
      fc.asyncProperty(corpus, async (entries) => {
        const { remember, do: consolidate, facts } = createConsolidatingWorld()
        for (const [text, disturb, owner] of entries) await remember(disturb(text), { owner })
        const before = await facts()

        await consolidate('merge')

        const after = await facts()
        const statementOf = ({ owner, fingerprint }: FactRecord) => `${owner} ${fingerprint}`
        expect(new Set(after.map(statementOf))).toEqual(new Set(before.map(statementOf)))
        for (const fact of after) expect(before.map(({ id }) => id)).toContain(fact.id)
        for (const deleted of before.filter(({ id }) => after.every((fact) => fact.id !== id))) {
          const remaining = after.filter((fact) => statementOf(fact) === statementOf(deleted))
          expect(remaining.some(({ text }) => wordsOf(text).length >= wordsOf(deleted.text).length)).toBe(true)
        }
      }),
      { numRuns: 60 },
    )
  })
})

describe('the decay phase', () => {
  it('halves the importance of a fact per half-life, regardless of how often the phase runs', async () => {
    const often = createConsolidatingWorld()
    const seldom = createConsolidatingWorld()
    for (const { remember } of [often, seldom]) await remember('one', { importance: 0.8 })

    for (let day = 0; day < 30; day++) {
      await often.advance(DAY)
      await often.do('decay')
    }
    await seldom.advance(30 * DAY)
    await seldom.do('decay')

    for (const { facts } of [often, seldom]) expect((await facts())[0]?.importance).toBeCloseTo(0.4, 5)
  })

  it('changes only the importance of a fact, at the earliest after a day', async () => {
    const { remember, advance, do: consolidate, facts } = createConsolidatingWorld()
    await remember('one')
    const [before] = await facts()
    await advance(DAY - 1)
    await consolidate('decay')
    expect(await facts()).toEqual([before])

    await advance(1)
    await consolidate('decay')

    const [after] = await facts()
    expect(after).toEqual({ ...before, importance: after?.importance, weighedAt: after?.weighedAt })
    expect(after?.importance).toBeLessThan(0.5)
  })

  it('deletes expired facts, appends their events and resolves their conflicts', async () => {
    const { remember, advance, do: consolidate, storage, eventsOf, conflicts } = createConsolidatingWorld()
    const expiresAt = '2025-01-01T00:00:01.000Z'
    await remember("Alice's favourite colour is certainly blue", { expiresAt })
    await remember("Alice's favourite colour is certainly green", { expiresAt })
    await advance(1_000)

    await consolidate('decay')

    expect(await storage.factUpkeep.expired({ now: Number.MAX_SAFE_INTEGER as EpochMs }, 9)).toEqual([])
    const deleted = (await eventsOf('memory/events')).filter(({ type }) => type === 'memory.fact.deleted')
    expect(deleted).toHaveLength(2)
    expect(await conflicts()).toMatchObject([{ status: 'resolved' }])
  })
})
