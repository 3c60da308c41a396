import { type BlockRecord, EVERY_ROW, type Storage } from '@perdure/ports'
import { expect } from 'vitest'
import { aBlock } from '../memory-builders.ts'
import { commit, idsOf, refused } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { SEEN_OF_MEMORY } from './fact-store.contract.ts'
import { at } from './optional-fields.ts'
import { pagedListCases } from './paged-list.contract.ts'

const put = (storage: Storage, ...blocks: readonly BlockRecord[]) =>
  commit(storage, ...blocks.map((block) => ({ type: 'block.put', block }) as const))

export const blockStoreCases: readonly ContractCase[] = [
  {
    title: 'finds a block by owner, namespace and label',
    async run(storage) {
      await put(storage, aBlock({ value: '"ü"\n' }))

      expect(await storage.blocks.find(aBlock())).toEqual(aBlock({ value: '"ü"\n' }))
      for (const over of [{ owner: 'bob' }, { namespace: 'work' }, { label: 'Persona' }]) {
        expect(await storage.blocks.find(aBlock(over))).toBeUndefined()
      }
    },
  },
  {
    title: 'keeps the id and creation time of a block that is put again',
    async run(storage) {
      await put(storage, aBlock())
      await put(storage, aBlock({ id: 'blk-2', createdAt: at(5), updatedAt: at(5), value: 'new', limit: 9 }))

      expect(await storage.blocks.find(aBlock())).toEqual(aBlock({ value: 'new', limit: 9, updatedAt: at(5) }))
      expect(await idsOf((page) => storage.blocks.list(undefined, page, EVERY_ROW))).toEqual([aBlock().id])
    },
  },
  {
    title: 'deletes a block and refuses to delete a missing one',
    async run(storage) {
      await put(storage, aBlock(), aBlock({ id: 'blk-2', owner: 'bob' }))
      const deletion = { type: 'block.delete', ref: aBlock() } as const

      await commit(storage, deletion)

      expect(await storage.blocks.find(aBlock())).toBeUndefined()
      expect(await storage.blocks.find(aBlock({ owner: 'bob' }))).toBeDefined()
      expect((await refused(storage, deletion)).conflict).toEqual({ type: 'block.delete' })
    },
  },
  {
    title: 'puts a block only over the version that the writer has read, and at most once if there is none',
    async run(storage) {
      const first = { type: 'block.put', block: aBlock({ value: 'one' }), from: null } as const
      await commit(storage, first)
      expect((await refused(storage, first)).conflict).toEqual({ type: 'block.put' })

      const next = aBlock({ value: 'two', updatedAt: at(5) })
      const second = { type: 'block.put', block: next, from: aBlock().updatedAt } as const
      await commit(storage, second)
      expect((await refused(storage, second)).conflict).toEqual({ type: 'block.put' })
      const missing = aBlock({ label: 'missing' })
      expect((await refused(storage, { ...second, block: missing })).conflict).toEqual({ type: 'block.put' })

      expect(await storage.blocks.find(aBlock())).toEqual(next)
      expect(await storage.blocks.find(missing)).toBeUndefined()
    },
  },
  {
    title: 'deletes a block only in the version that the writer has read',
    async run(storage) {
      await put(storage, aBlock({ updatedAt: at(5) }))

      const late = { type: 'block.delete', ref: aBlock(), from: at(4) } as const
      expect((await refused(storage, late)).conflict).toEqual({ type: 'block.delete' })
      expect(await storage.blocks.find(aBlock())).toBeDefined()
      await commit(storage, { ...late, from: at(5) })
      expect(await storage.blocks.find(aBlock())).toBeUndefined()
    },
  },
  {
    title: 'lists exactly the blocks that the caller may see, in one namespace or in all',
    async run(storage) {
      await put(
        storage,
        aBlock({ id: 'a', label: 'a', createdAt: at(0) }),
        aBlock({ id: 'b', label: 'b', createdAt: at(1), owner: 'bob', namespace: 'work' }),
        aBlock({ id: 'c', label: 'c', createdAt: at(2) }),
      )

      for (const [visibility, expected] of SEEN_OF_MEMORY) {
        const listed = await idsOf((page) => storage.blocks.list(undefined, page, visibility))
        expect(listed, JSON.stringify(visibility)).toEqual(expected)
        const atWork = await idsOf((page) => storage.blocks.list('work', page, visibility))
        expect(atWork).toEqual(expected.filter((id) => id === 'b'))
      }
    },
  },
  ...pagedListCases({
    noun: 'blocks',
    insert: (storage, { id, createdAt, text }) => put(storage, aBlock({ id, label: id, createdAt, value: text })),
    list: (storage, page) => storage.blocks.list(undefined, page, EVERY_ROW),
  }),
]

/** Requirements for every `BlockStore` and for writes of blocks. */
export const blockStoreContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'BlockStore', cases: blockStoreCases }], harness)
