import { type EmissionPart, type Storage, toJsonText } from '@perdure/ports'
import { expect } from 'vitest'
import { anEmissionPart } from '../builders.ts'
import { commit, refused } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { at } from './optional-fields.ts'

const insert = (storage: Storage, ...parts: readonly EmissionPart[]) =>
  commit(storage, ...parts.map((part) => ({ type: 'emission.insert', part }) as const))

const ids = async (storage: Storage, limit = 10) => (await storage.emissions.list(limit)).map(({ id }) => id)

export const emissionStoreCases: readonly ContractCase[] = [
  {
    title: 'starts without emission parts and returns those that were inserted',
    async run(storage) {
      expect(await storage.emissions.list(10)).toEqual([])

      await insert(storage, anEmissionPart(), anEmissionPart({ id: 'emi-2', waits: [], payload: toJsonText(null) }))

      expect(await storage.emissions.list(10)).toEqual([
        anEmissionPart(),
        anEmissionPart({ id: 'emi-2', waits: [], payload: toJsonText(null) }),
      ])
    },
  },
  {
    title: 'lists emission parts in insertion order, whatever their ids and times, up to the limit',
    async run(storage) {
      await insert(
        storage,
        anEmissionPart({ id: 'b', createdAt: at(9) }),
        anEmissionPart({ id: 'c', createdAt: at(1) }),
      )
      await insert(storage, anEmissionPart({ id: 'a', createdAt: at(4) }))

      expect([await ids(storage), await ids(storage, 2)]).toEqual([
        ['b', 'c', 'a'],
        ['b', 'c'],
      ])
    },
  },
  {
    title: 'lists emission parts up to 4 MiB, and a longer part alone',
    async run(storage) {
      const part = (id: string, length: number) => anEmissionPart({ id, payload: toJsonText('x'.repeat(length)) })
      await insert(storage, part('a', 5_000_000), part('b', 3_000_000), part('c', 1_000_000), part('d', 1_000_000))

      expect(await ids(storage)).toEqual(['a'])
      await commit(storage, { type: 'emission.finish', id: 'a' })
      expect(await ids(storage)).toEqual(['b', 'c'])
    },
  },
  {
    title: 'refuses an emission part with a taken id and keeps the existing one',
    async run(storage) {
      await insert(storage, anEmissionPart())

      const outcome = await refused(storage, { type: 'emission.insert', part: anEmissionPart({ eventName: 'other' }) })

      expect(outcome).toMatchObject({ index: 0, conflict: { type: 'emission.insert' } })
      expect(await storage.emissions.list(10)).toEqual([anEmissionPart()])
    },
  },
  {
    title: 'lets exactly one of many concurrent callers finish an emission part',
    async run(storage) {
      await insert(storage, anEmissionPart({ id: 'a' }), anEmissionPart({ id: 'b' }))
      const finish = { type: 'emission.finish', id: 'a' } as const

      const outcomes = await Promise.all(Array.from({ length: 10 }, () => storage.unitOfWork.commit([finish])))

      expect(outcomes.filter(({ committed }) => committed)).toHaveLength(1)
      expect(await refused(storage, finish)).toMatchObject({ index: 0, conflict: { type: 'emission.finish' } })
      expect(await refused(storage, { type: 'emission.finish', id: 'unknown' })).toMatchObject({ index: 0 })
      expect(await ids(storage)).toEqual(['b'])
    },
  },
  {
    title: 'keeps the emission parts and their order when a commit conflicts',
    async run(storage) {
      await insert(storage, anEmissionPart({ id: 'a' }), anEmissionPart({ id: 'b' }))

      await refused(
        storage,
        { type: 'emission.finish', id: 'a' },
        { type: 'emission.insert', part: anEmissionPart({ id: 'c' }) },
        { type: 'emission.finish', id: 'unknown' },
      )

      expect(await ids(storage)).toEqual(['a', 'b'])
    },
  },
]

/** Requirements for every `EmissionStore`. */
export const emissionStoreContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'EmissionStore', cases: emissionStoreCases }], harness)
