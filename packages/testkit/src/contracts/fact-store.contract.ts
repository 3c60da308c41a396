import { EVERY_ROW, type FactFilter, type FactRecord, type Storage, type Visibility } from '@perdure/ports'
import { expect } from 'vitest'
import { aFact } from '../memory-builders.ts'
import { commit, idsOf, refused } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { factSearchCases } from './fact-search.contract.ts'
import { at, eachAlone, type Optionals } from './optional-fields.ts'
import { pagedListCases } from './paged-list.contract.ts'

const OPTIONALS: Optionals<FactRecord> = { sourceRunId: 'run-1', sourceSessionId: 'ses-1', expiresAt: at(9_000) }

const insertFacts = (storage: Storage, ...facts: readonly FactRecord[]) =>
  commit(storage, ...facts.map((fact) => ({ type: 'fact.insert', fact }) as const))

const find = (storage: Storage, id: string, now = at(0)) => storage.facts.find(id, { now, visibility: EVERY_ROW })

const ALL: FactFilter = { now: at(0), visibility: EVERY_ROW }
const listed = (storage: Storage, filter: Partial<FactFilter>) =>
  idsOf((page) => storage.facts.list({ ...ALL, ...filter }, page))

export const SEEN_OF_MEMORY: readonly (readonly [Visibility, readonly string[]])[] = [
  [EVERY_ROW, ['a', 'b', 'c']],
  [{}, []],
  [{ owner: 'alice' }, ['a', 'c']],
  [{ owner: 'nobody' }, []],
  [{ ids: ['b', 'unknown'] }, ['b']],
  [{ ids: [] }, []],
  [{ owner: 'bob', ids: ['c'] }, ['b', 'c']],
  [{ agentIds: 'all', workflowIds: ['nightly'] }, []],
]

const insertSeen = (storage: Storage) =>
  insertFacts(
    storage,
    aFact({ id: 'a', createdAt: at(0), namespace: 'work', tags: ['red', 'blue'], sourceSessionId: 'ses-1' }),
    aFact({ id: 'b', createdAt: at(1), owner: 'bob', tags: ['red'] }),
    aFact({ id: 'c', createdAt: at(2), namespace: 'work', tags: ['Red', 'it"s'] }),
  )

export const factStoreCases: readonly ContractCase[] = [
  {
    title: 'round-trips a fact with all, one and none of the optional fields',
    async run(storage) {
      const facts = [OPTIONALS, ...eachAlone(OPTIONALS), {}].map((fields, index) =>
        aFact({
          id: `mem-${index}`,
          text: 'Grüße "quoted" 🚢',
          tags: ['a,b', 'ü'],
          metadata: { 'k."': '\n' },
          ...fields,
        }),
      )
      await insertFacts(storage, ...facts)

      for (const fact of facts) expect(await find(storage, fact.id)).toEqual(fact)
      expect(await find(storage, 'unknown')).toBeUndefined()
    },
  },
  {
    title: 'refuses a fact with a taken id and returns the existing fact',
    async run(storage) {
      await insertFacts(storage, aFact())

      const outcome = await refused(storage, { type: 'fact.insert', fact: aFact({ text: 'another' }) })

      expect(outcome.conflict).toEqual({ type: 'fact.insert', current: aFact() })
      expect(await storage.facts.search('another', ALL, 10)).toEqual([])
    },
  },
  {
    title: 'replaces a fact only if its revision is the previous one',
    async run(storage) {
      await insertFacts(storage, aFact({ sourceRunId: 'run-1', expiresAt: at(9) }))
      const second = aFact({ text: 'opens at seven', namespace: 'work', tags: ['t'], importance: 1, revision: 2 })

      const stale = { ...second, text: 'stale', revision: 3 }
      expect((await refused(storage, { type: 'fact.replace', fact: stale })).conflict).toEqual({
        type: 'fact.replace',
        current: aFact({ sourceRunId: 'run-1', expiresAt: at(9) }),
      })
      await commit(storage, { type: 'fact.replace', fact: second })
      expect(await find(storage, second.id)).toEqual(second)
      expect((await refused(storage, { type: 'fact.replace', fact: { ...second, id: 'unknown' } })).conflict).toEqual({
        type: 'fact.replace',
      })
    },
  },
  {
    title: 'lets exactly one of many concurrent replacements of a revision win',
    async run(storage) {
      await insertFacts(storage, aFact())
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          storage.unitOfWork.commit([{ type: 'fact.replace', fact: aFact({ text: `text ${index}`, revision: 2 }) }]),
        ),
      )

      expect(outcomes.filter(({ committed }) => committed)).toHaveLength(1)
    },
  },
  {
    title: 'deletes a fact only if it has the given revision',
    async run(storage) {
      await insertFacts(storage, aFact({ revision: 3 }))

      expect((await refused(storage, { type: 'fact.delete', id: aFact().id, revision: 2 })).conflict).toMatchObject({
        type: 'fact.delete',
        current: { revision: 3 },
      })
      await commit(storage, { type: 'fact.delete', id: aFact().id, revision: 3 })
      expect(await find(storage, aFact().id)).toBeUndefined()
      expect((await refused(storage, { type: 'fact.delete', id: aFact().id, revision: 3 })).conflict).toEqual({
        type: 'fact.delete',
      })
    },
  },
  {
    title: 'sets the importance of a fact only at the given revision and does not increment it',
    async run(storage) {
      await insertFacts(storage, aFact())
      const weigh = { type: 'fact.weigh', id: aFact().id, importance: 0.25, at: at(7) } as const

      expect((await commit(storage, { ...weigh, revision: 2 })).counts).toEqual([0])
      expect((await commit(storage, { ...weigh, id: 'unknown', revision: 1 })).counts).toEqual([0])
      expect(await find(storage, aFact().id)).toEqual(aFact())
      expect((await commit(storage, { ...weigh, revision: 1 })).counts).toEqual([1])
      expect(await find(storage, aFact().id)).toEqual(aFact({ importance: 0.25, weighedAt: at(7) }))
    },
  },
  {
    title: 'hides a fact from every read exactly from expiresAt',
    async run(storage) {
      await insertFacts(storage, aFact({ expiresAt: at(5) }))
      const embed = { type: 'fact.embed', id: aFact().id, revision: 1, embedder: 'e', vector: [1] } as const
      await commit(storage, embed)
      const readAll = async (now: typeof ALL.now) => {
        const filter = { ...ALL, now }
        const found = await find(storage, aFact().id, now)
        return [
          found === undefined ? 0 : 1,
          (await storage.facts.list(filter, { limit: 9, order: 'asc' })).items.length,
          (await storage.facts.search('harbour', filter, 9)).length,
          (await storage.facts.nearest({ vector: [1], embedder: 'e', candidates: 9 }, filter, 9)).length,
        ]
      }

      expect(await readAll(at(4))).toEqual([1, 1, 1, 1])
      expect(await readAll(at(5))).toEqual([0, 0, 0, 0])
    },
  },
  {
    title: 'lists, finds and searches exactly the facts that the caller may see',
    async run(storage) {
      await insertSeen(storage)

      for (const [visibility, expected] of SEEN_OF_MEMORY) {
        expect(await listed(storage, { visibility }), JSON.stringify(visibility)).toEqual(expected)
        const found = await Promise.all(['a', 'b', 'c'].map((id) => storage.facts.find(id, { now: at(0), visibility })))
        expect(found.flatMap((fact) => fact?.id ?? [])).toEqual(expected)
        const hits = await storage.facts.search('harbour', { ...ALL, visibility }, 9)
        expect(hits.map(({ id }) => id).sort()).toEqual(expected)
      }
    },
  },
  {
    title: 'lists the facts that match every member of a filter',
    async run(storage) {
      await insertSeen(storage)
      const filters: readonly (readonly [Partial<FactFilter>, readonly string[]])[] = [
        [{ namespace: 'work' }, ['a', 'c']],
        [{ namespace: 'default' }, ['b']],
        [{ namespace: 'Work' }, []],
        [{ tags: ['red'] }, ['a', 'b']],
        [{ tags: ['blue', 'red'] }, ['a']],
        [{ tags: ['it"s'] }, ['c']],
        [{ tags: [] }, ['a', 'b', 'c']],
        [{ owner: 'bob' }, ['b']],
        [{ sourceSessionId: 'ses-1' }, ['a']],
        [{ namespace: 'work', tags: ['red'], owner: 'alice', sourceSessionId: 'ses-1' }, ['a']],
        [{ namespace: 'work', owner: 'bob' }, []],
        [{ namespace: 'work', visibility: { owner: 'bob' } }, []],
      ]

      for (const [filter, expected] of filters) {
        expect(await listed(storage, filter), JSON.stringify(filter)).toEqual(expected)
        const hits = await storage.facts.search('harbour', { ...ALL, ...filter }, 9)
        expect(hits.map(({ id }) => id).sort(), JSON.stringify(filter)).toEqual(expected)
      }
    },
  },
  ...pagedListCases({
    noun: 'facts',
    insert: (storage, { id, createdAt, text }) => insertFacts(storage, aFact({ id, createdAt, text, fingerprint: id })),
    list: (storage, page) => storage.facts.list(ALL, page),
  }),
  ...factSearchCases,
]

/** Requirements for every `FactStore` and for writes of facts. */
export const factStoreContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'FactStore', cases: factStoreCases }], harness)
