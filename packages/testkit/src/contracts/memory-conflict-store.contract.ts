import { EVERY_ROW, type MemoryConflictRecord, type Storage } from '@perdure/ports'
import { expect } from 'vitest'
import { aMemoryConflict } from '../memory-builders.ts'
import { commit, idsOf, refused } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { SEEN_OF_MEMORY } from './fact-store.contract.ts'
import { at, eachAlone, type Optionals } from './optional-fields.ts'
import { pagedListCases } from './paged-list.contract.ts'

const OPTIONALS: Optionals<MemoryConflictRecord> = { resolvedAt: at(3), by: 'bob', reason: 'Grüße' }

const open = (storage: Storage, ...conflicts: readonly MemoryConflictRecord[]) =>
  commit(storage, ...conflicts.map((conflict) => ({ type: 'conflict.open', conflict }) as const))

const find = (storage: Storage, id: string) => storage.memoryConflicts.find(id, EVERY_ROW)

export const memoryConflictStoreCases: readonly ContractCase[] = [
  {
    title: 'round-trips a conflict with all, one and none of the optional fields',
    async run(storage) {
      const conflicts = [OPTIONALS, ...eachAlone(OPTIONALS), {}].map((fields, index) =>
        aMemoryConflict({ id: `cfl-${index}`, factIds: [`a${index}`, `b${index}`], ...fields }),
      )
      await open(storage, ...conflicts)

      for (const conflict of conflicts) expect(await find(storage, conflict.id)).toEqual(conflict)
      expect(await find(storage, 'unknown')).toBeUndefined()
    },
  },
  {
    title: 'allows one open conflict per pair of facts and another after it is resolved',
    async run(storage) {
      await open(storage, aMemoryConflict({ id: 'first' }))
      const again = { type: 'conflict.open', conflict: aMemoryConflict({ id: 'again' }) } as const

      expect((await refused(storage, again)).conflict).toEqual({
        type: 'conflict.open',
        current: aMemoryConflict({ id: 'first' }),
      })
      await open(storage, aMemoryConflict({ id: 'other', factIds: ['mem-older', 'mem-third'] }))
      const resolution = { resolvedAt: at(3), by: 'bob', reason: 'both' }
      await commit(storage, { type: 'conflict.resolve', id: 'first', resolution })
      await open(storage, again.conflict)
      expect(
        (await refused(storage, { ...again, conflict: aMemoryConflict({ id: 'first', factIds: ['x', 'y'] }) }))
          .conflict,
      ).toMatchObject({ type: 'conflict.open', current: { id: 'first' } })
    },
  },
  {
    title: 'resolves an open conflict only once',
    async run(storage) {
      await open(storage, aMemoryConflict())
      const resolve = (by: string) =>
        ({ type: 'conflict.resolve', id: aMemoryConflict().id, resolution: { resolvedAt: at(3), by } }) as const

      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, index) => storage.unitOfWork.commit([resolve(`bob-${index}`)])),
      )
      expect(outcomes.filter(({ committed }) => committed)).toHaveLength(1)
      const resolved = await find(storage, aMemoryConflict().id)
      expect(resolved).toMatchObject({ status: 'resolved', resolvedAt: at(3) })
      expect((await refused(storage, resolve('late'))).conflict).toEqual({
        type: 'conflict.resolve',
        current: resolved,
      })
      const unknown = { type: 'conflict.resolve', id: 'unknown', resolution: { resolvedAt: at(3) } } as const
      expect((await refused(storage, unknown)).conflict).toEqual({ type: 'conflict.resolve' })
    },
  },
  {
    title: 'lists the open conflicts of facts, each once, oldest first',
    async run(storage) {
      await open(
        storage,
        aMemoryConflict({ id: 'two', factIds: ['b', 'c'], createdAt: at(2) }),
        aMemoryConflict({ id: 'one', factIds: ['a', 'b'], createdAt: at(1) }),
        aMemoryConflict({ id: 'done', factIds: ['a', 'd'], createdAt: at(0) }),
        aMemoryConflict({ id: 'far', factIds: ['x', 'y'], createdAt: at(0) }),
      )
      await commit(storage, { type: 'conflict.resolve', id: 'done', resolution: { resolvedAt: at(3) } })
      const openConflicts = async (...factIds: string[]) =>
        (await storage.memoryConflicts.listOpenByFacts(factIds)).map(({ id }) => id)

      expect(await openConflicts('a')).toEqual(['one'])
      expect(await openConflicts('b')).toEqual(['one', 'two'])
      expect(await openConflicts('a', 'b', 'c', 'd')).toEqual(['one', 'two'])
      expect(await openConflicts()).toEqual([])
    },
  },
  {
    title: 'lists and finds exactly the conflicts that the caller may see, in one namespace or in all',
    async run(storage) {
      await open(
        storage,
        aMemoryConflict({ id: 'a', factIds: ['1', '2'], createdAt: at(0) }),
        aMemoryConflict({ id: 'b', factIds: ['3', '4'], createdAt: at(1), owner: 'bob', namespace: 'work' }),
        aMemoryConflict({ id: 'c', factIds: ['5', '6'], createdAt: at(2) }),
      )

      for (const [visibility, expected] of SEEN_OF_MEMORY) {
        const listed = await idsOf((page) => storage.memoryConflicts.list(undefined, page, visibility))
        expect(listed, JSON.stringify(visibility)).toEqual(expected)
        const found = await Promise.all(['a', 'b', 'c'].map((id) => storage.memoryConflicts.find(id, visibility)))
        expect(found.flatMap((conflict) => conflict?.id ?? [])).toEqual(expected)
        const atWork = await idsOf((page) => storage.memoryConflicts.list('work', page, visibility))
        expect(atWork).toEqual(expected.filter((id) => id === 'b'))
      }
    },
  },
  ...pagedListCases({
    noun: 'memory conflicts',
    insert: (storage, { id, createdAt, text }) =>
      open(storage, aMemoryConflict({ id, factIds: [id, `z${text}`], createdAt })),
    list: (storage, page) => storage.memoryConflicts.list(undefined, page, EVERY_ROW),
  }),
]

/** Requirements for every `MemoryConflictStore` and for writes of conflicts. */
export const memoryConflictStoreContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'MemoryConflictStore', cases: memoryConflictStoreCases }], harness)
