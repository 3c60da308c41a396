import type { FactRecord, Storage } from '@perdure/ports'
import { expect } from 'vitest'
import { aFact } from '../memory-builders.ts'
import { commit } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { at } from './optional-fields.ts'

const insert = (storage: Storage, ...facts: readonly Partial<FactRecord>[]) =>
  commit(storage, ...facts.map((fact) => ({ type: 'fact.insert', fact: aFact(fact) }) as const))

const ids = (facts: readonly FactRecord[]) => facts.map(({ id }) => id)

export const factUpkeepCases: readonly ContractCase[] = [
  {
    title: 'groups facts of one owner and namespace that say the same thing, oldest first',
    async run(storage) {
      await insert(
        storage,
        { id: 'b', fingerprint: 'x', createdAt: at(2) },
        { id: 'a', fingerprint: 'x', createdAt: at(1) },
        { id: 'other-owner', fingerprint: 'x', owner: 'bob' },
        { id: 'other-place', fingerprint: 'x', namespace: 'work' },
        { id: 'alone', fingerprint: 'y' },
        { id: 'expired', fingerprint: 'y', expiresAt: at(5) },
        { id: 'bob-2', fingerprint: 'x', owner: 'bob', createdAt: at(3) },
      )

      const groups = await storage.factUpkeep.repeated({ now: at(5) }, 10)
      expect(groups.map(({ facts }) => ids(facts)).sort()).toEqual([
        ['a', 'b'],
        ['other-owner', 'bob-2'],
      ])
      const owned = await storage.factUpkeep.repeated({ now: at(5), owner: 'bob' }, 10)
      expect(owned.map(({ facts }) => ids(facts))).toEqual([['other-owner', 'bob-2']])
      expect(await storage.factUpkeep.repeated({ now: at(4) }, 10)).toHaveLength(3)
    },
  },
  {
    title: 'pages through all groups by key without repeats or gaps',
    async run(storage) {
      const pairs = Array.from({ length: 7 }, (_, index) => [
        { id: `a${index}`, fingerprint: `f"${index}` },
        { id: `b${index}`, fingerprint: `f"${index}` },
      ])
      await insert(storage, ...pairs.flat())
      const seen: string[] = []
      let after: string | undefined
      for (let round = 0; round < 10; round++) {
        const groups = await storage.factUpkeep.repeated({ now: at(0), after }, 2)
        seen.push(...groups.flatMap(({ facts }) => ids(facts)))
        after = groups.at(-1)?.groupKey ?? after
      }

      expect(seen.sort()).toEqual(ids(pairs.flat() as FactRecord[]).sort())
    },
  },
  {
    title: 'lists expired facts, earliest first',
    async run(storage) {
      await insert(
        storage,
        { id: 'late', expiresAt: at(6) },
        { id: 'second', expiresAt: at(5) },
        { id: 'first', expiresAt: at(1), owner: 'bob' },
        { id: 'never' },
      )

      expect(ids(await storage.factUpkeep.expired({ now: at(5) }, 10))).toEqual(['first', 'second'])
      expect(ids(await storage.factUpkeep.expired({ now: at(5) }, 1))).toEqual(['first'])
      expect(ids(await storage.factUpkeep.expired({ now: at(5), owner: 'alice' }, 10))).toEqual(['second'])
    },
  },
  {
    title: 'lists facts with positive importance and weighedAt at or before an instant, oldest first',
    async run(storage) {
      await insert(
        storage,
        { id: 'now', weighedAt: at(9) },
        { id: 'second', weighedAt: at(8) },
        { id: 'first', weighedAt: at(1), owner: 'bob' },
        { id: 'worthless', weighedAt: at(0), importance: 0 },
      )

      expect(ids(await storage.factUpkeep.weighedBefore({ at: at(8) }, 10))).toEqual(['first', 'second'])
      expect(ids(await storage.factUpkeep.weighedBefore({ at: at(8) }, 1))).toEqual(['first'])
      expect(ids(await storage.factUpkeep.weighedBefore({ at: at(8), owner: 'alice' }, 10))).toEqual(['second'])
    },
  },
  {
    title: 'lists facts without a vector, oldest first, except those that cannot be embedded',
    async run(storage) {
      await insert(storage, { id: 'b', createdAt: at(2) }, { id: 'a', createdAt: at(1) }, { id: 'odd' }, { id: 'done' })
      await commit(
        storage,
        { type: 'fact.embed', id: 'done', revision: 1, embedder: 'e', vector: [1] },
        { type: 'fact.embed', id: 'odd', revision: 1, embedder: 'e' },
      )

      expect(ids(await storage.factUpkeep.unembedded(10))).toEqual(['a', 'b'])
      expect(ids(await storage.factUpkeep.unembedded(1))).toEqual(['a'])
      await commit(storage, { type: 'fact.replace', fact: aFact({ id: 'done', text: 'new', revision: 2 }) })
      expect(ids(await storage.factUpkeep.unembedded(10))).toEqual(['done', 'a', 'b'])
    },
  },
]

/** Requirements for every `FactUpkeep`. */
export const factUpkeepContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'FactUpkeep', cases: factUpkeepCases }], harness)
