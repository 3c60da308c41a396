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
    title: 'holds no part at first, and gives back what was inserted',
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
    title: 'lists in the order of insertion, whatever the ids and times, and at most the limit',
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
    title: 'refuses an id that is taken, and leaves the part as it is',
    async run(storage) {
      await insert(storage, anEmissionPart())

      const outcome = await refused(storage, { type: 'emission.insert', part: anEmissionPart({ eventName: 'other' }) })

      expect(outcome).toMatchObject({ index: 0, conflict: { type: 'emission.insert' } })
      expect(await storage.emissions.list(10)).toEqual([anEmissionPart()])
    },
  },
  {
    title: 'a part is finished once: whoever comes second meets a conflict',
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
    title: 'a commit that conflicts leaves the parts and their order as they were',
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

/** What every adapter of `EmissionStore` must do. */
export const emissionStoreContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'EmissionStore', cases: emissionStoreCases }], harness)
