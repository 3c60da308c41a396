import { EVERY_ROW, type FileRecord, MAX_INLINE_BYTES, type Storage } from '@perdure/ports'
import { expect } from 'vitest'
import { aSession } from '../builders.ts'
import { aFile } from '../file-builders.ts'
import { commit, fillOneByOne, refused } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { keptFileCases } from './kept-files.contract.ts'
import { at, eachAlone, type Optionals } from './optional-fields.ts'
import { pagedListCases } from './paged-list.contract.ts'

const OPTIONALS: Optionals<FileRecord> = { name: 'Zürich 🏔.png' }
const ALL = { limit: 200, order: 'asc' } as const
const ANSWER = { status: 404, body: '{}' }

const insert = (storage: Storage, ...files: readonly FileRecord[]) =>
  commit(storage, ...files.map((file) => ({ type: 'file.insert', file }) as const))

const openSessions = (storage: Storage, ...ids: readonly string[]) =>
  commit(storage, ...ids.map((id) => ({ type: 'session.insert', session: aSession({ id }) }) as const))

const holdBy = (sessionId: string, ...ids: readonly string[]) =>
  ({ type: 'file.hold', sessionId, ids, owner: 'alice' }) as const

const endSession = (storage: Storage, id: string) => commit(storage, { type: 'session.delete', id, answer: ANSWER })

const idsOf = async ({ files }: Storage, sessionId?: string) =>
  (await files.list({ sessionId }, ALL, EVERY_ROW)).items.map(({ id }) => id)

/** Every byte value, so that no text encoding goes unnoticed. */
const bytes = (size: number): Uint8Array => Uint8Array.from({ length: size }, (_, index) => index % 256)
const base64 = (size: number): string => Buffer.from(bytes(size)).toString('base64')

export const fileStoreCases: readonly ContractCase[] = [
  ...pagedListCases({
    noun: 'files',
    insert: (storage, { id, createdAt, text }) => insert(storage, aFile({ id, createdAt, name: text })),
    list: (storage, page) => storage.files.list({}, page, EVERY_ROW),
  }),
  {
    title: 'round-trips a file with all, one and none of the optional fields',
    async run(storage) {
      const files = [OPTIONALS, ...eachAlone(OPTIONALS), {}].map((fields, index) =>
        aFile({ id: `file-${index}`, ...fields }),
      )
      await insert(storage, ...files)

      for (const file of files) expect(await storage.files.find(file.id, EVERY_ROW)).toEqual(file)
    },
  },
  {
    title: 'round-trips a size above 2 GiB',
    async run(storage) {
      const file = aFile({ size: 5_000_000_000 })
      await insert(storage, file, { ...file, id: 'other' })

      expect(await storage.files.find(file.id, EVERY_ROW)).toEqual(file)
      expect(await storage.files.usage('alice')).toEqual({ files: 2, bytes: 10_000_000_000 })
    },
  },
  {
    title: 'finds and lists a file only for a caller who may see it',
    async run(storage) {
      await insert(storage, aFile({ id: 'a' }), aFile({ id: 'b', owner: 'bob' }), aFile({ id: 'c', owner: 'bob' }))
      const list = async (visibility: Parameters<typeof storage.files.list>[2]) =>
        (await storage.files.list({}, ALL, visibility)).items.map(({ id }) => id)

      expect(await storage.files.find('b', { owner: 'alice' })).toBeUndefined()
      expect(await storage.files.find('b', { owner: 'bob' })).toMatchObject({ id: 'b' })
      expect(await storage.files.find('b', { ids: ['b'] })).toMatchObject({ id: 'b' })
      expect(await storage.files.find('b', {})).toBeUndefined()
      expect([await list({ owner: 'bob' }), await list({ owner: 'alice', ids: ['c'] }), await list({})]).toEqual([
        ['b', 'c'],
        ['a', 'c'],
        [],
      ])
    },
  },
  {
    title: 'returns stored content byte by byte, empty and up to the largest size, and none where none was stored',
    async run(storage) {
      const sizes = [0, 1, 300, MAX_INLINE_BYTES]
      for (const size of sizes) {
        await commit(storage, { type: 'file.insert', file: aFile({ id: `f${size}`, size }), content: base64(size) })
      }
      await insert(storage, aFile({ id: 'blob' }))

      for (const size of sizes) expect(await storage.files.content(`f${size}`)).toEqual(bytes(size))
      expect(await storage.files.content('blob')).toBeUndefined()
      expect(await storage.files.content('unknown')).toBeUndefined()
    },
  },
  {
    title: 'finds the newest file of an owner with the same content, media type and name',
    async run(storage) {
      const named = { owner: 'alice', name: 'a.txt' }
      await insert(
        storage,
        aFile({ id: 'old', ...named, createdAt: at(1) }),
        aFile({ id: 'new', ...named, createdAt: at(2) }),
        aFile({ id: 'unnamed', createdAt: at(3) }),
        aFile({ id: 'typed', ...named, mediaType: 'text/html', createdAt: at(3) }),
        aFile({ id: 'other', ...named, sha256: 'f'.repeat(64), createdAt: at(3) }),
        aFile({ id: 'bob', ...named, owner: 'bob', createdAt: at(3) }),
      )
      const idOf = async (over: Partial<FileRecord>) => (await storage.files.findSame(aFile(over)))?.id

      expect(await storage.files.findSame(aFile(named))).toEqual(aFile({ id: 'new', ...named, createdAt: at(2) }))
      expect(await idOf({})).toBe('unnamed')
      expect(await idOf({ ...named, mediaType: 'text/html' })).toBe('typed')
      expect(await idOf({ ...named, owner: 'bob' })).toBe('bob')
      expect(await idOf({ ...named, size: 6 })).toBeUndefined()
      expect(await idOf({ ...named, name: 'b.txt' })).toBeUndefined()
    },
  },
  {
    title: 'refuses a file with a taken id and returns the existing file',
    async run(storage) {
      await insert(storage, aFile())

      const { conflict } = await refused(storage, { type: 'file.insert', file: aFile({ owner: 'bob' }) })

      expect(conflict).toEqual({ type: 'file.insert', current: aFile() })
    },
  },
  {
    title: 'refuses a file that would exceed the bytes of its owner, even among concurrent inserts',
    async run(storage) {
      await insert(storage, aFile({ id: 'of bob', owner: 'bob', size: 1_000 }))
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          storage.unitOfWork.commit([{ type: 'file.insert', file: aFile({ id: `f${index}` }), ownerBytes: 15 }]),
        ),
      )

      const refusals = outcomes.filter(({ committed }) => !committed)
      expect(refusals).toHaveLength(5)
      for (const refusal of refusals) expect(refusal).toMatchObject({ conflict: { type: 'file.insert' } })
      expect(await storage.files.usage('alice')).toEqual({ files: 3, bytes: 15 })
      expect(await storage.files.usage('nobody')).toEqual({ files: 0, bytes: 0 })
    },
  },
  {
    title: 'lets exactly one of many concurrent callers insert the last file below the limit of bytes, each time',
    run: (storage) =>
      fillOneByOne((id, max) =>
        storage.unitOfWork.commit([{ type: 'file.insert', file: aFile({ id, size: 5 }), ownerBytes: 5 * max }]),
      ),
  },
  {
    title: 'lists the files that a session holds, and the sessions that hold a file, each once',
    async run(storage) {
      await openSessions(storage, 's1', 's2')
      await insert(storage, aFile({ id: 'a' }), aFile({ id: 'b' }), aFile({ id: 'c' }))

      const { counts } = await commit(storage, holdBy('s1', 'a', 'b'), holdBy('s1', 'b', 'b'), holdBy('s2', 'b'))

      expect(counts).toEqual([2, 0, 1])
      expect([await idsOf(storage, 's1'), await idsOf(storage, 's2'), await idsOf(storage)]).toEqual([
        ['a', 'b'],
        ['b'],
        ['a', 'b', 'c'],
      ])
      expect(await storage.files.holders('b')).toEqual(['s1', 's2'])
      expect(await storage.files.holders('c')).toEqual([])
    },
  },
  {
    title: 'refuses to hold a file that does not exist or has another owner, and names it',
    async run(storage) {
      await openSessions(storage, 's1')
      await insert(storage, aFile({ id: 'a' }), aFile({ id: 'of bob', owner: 'bob' }))

      for (const missing of ['unknown', 'of bob']) {
        const { conflict } = await refused(storage, holdBy('s1', 'a', missing))
        expect(conflict).toEqual({ type: 'file.hold', missing })
      }
      expect((await refused(storage, holdBy('unknown', 'a'))).conflict).toEqual({ type: 'file.hold' })
      expect(await storage.files.holders('a')).toEqual([])
    },
  },
  {
    title: 'holds a file of a session that the same commit creates',
    async run(storage) {
      const session = aSession({ id: 's1' })
      await commit(
        storage,
        { type: 'file.insert', file: aFile({ id: 'a' }) },
        { type: 'session.insert', session },
        holdBy('s1', 'a'),
      )

      expect(await storage.files.holders('a')).toEqual(['s1'])
    },
  },
  {
    title: 'deletes a file with the last session that holds it, and keeps uploads',
    async run(storage) {
      await openSessions(storage, 's1', 's2')
      await insert(storage, aFile({ id: 'shared' }), aFile({ id: 'own' }), aFile({ id: 'upload' }))
      await commit(storage, holdBy('s1', 'shared', 'own'), holdBy('s2', 'shared'))

      await endSession(storage, 's1')
      expect(await idsOf(storage)).toEqual(['shared', 'upload'])
      expect(await storage.files.holders('shared')).toEqual(['s2'])

      await endSession(storage, 's2')
      expect(await idsOf(storage)).toEqual(['upload'])
    },
  },
  {
    title: 'does not let a new session with the id of a deleted session hold its files',
    async run(storage) {
      await openSessions(storage, 's1', 's2')
      await insert(storage, aFile({ id: 'shared' }))
      await commit(storage, holdBy('s1', 'shared'), holdBy('s2', 'shared'))
      await endSession(storage, 's1')
      await openSessions(storage, 's1')

      expect(await idsOf(storage, 's1')).toEqual([])
    },
  },
  {
    title: 'never deletes a file that a session starts to hold while another one is deleted',
    async run(storage) {
      for (let round = 0; round < 5; round++) {
        const [first, second, id] = [`a${round}`, `b${round}`, `f${round}`]
        await openSessions(storage, first, second)
        await insert(storage, aFile({ id }))
        await commit(storage, holdBy(first, id))

        const [, held] = await Promise.all([
          endSession(storage, first),
          storage.unitOfWork.commit([holdBy(second, id)]),
        ])

        expect((await storage.files.find(id, EVERY_ROW)) !== undefined).toBe(held.committed)
      }
    },
  },
  {
    title: 'deletes an upload, and refuses to delete a held or unknown file',
    async run(storage) {
      await openSessions(storage, 's1')
      await insert(storage, aFile({ id: 'upload' }), aFile({ id: 'held' }))
      await commit(storage, holdBy('s1', 'held'))
      await commit(storage, { type: 'file.delete', id: 'upload' })

      expect(await idsOf(storage)).toEqual(['held'])
      expect((await refused(storage, { type: 'file.delete', id: 'held' })).conflict).toEqual({
        type: 'file.delete',
        current: aFile({ id: 'held' }),
      })
      expect((await refused(storage, { type: 'file.delete', id: 'upload' })).conflict).toEqual({ type: 'file.delete' })
    },
  },
  {
    title: 'prunes the oldest uploads up to the limit, and no held or newer file',
    async run(storage) {
      await openSessions(storage, 's1')
      await insert(
        storage,
        ...[3, 1, 2, 9].map((ms) => aFile({ id: `f${ms}`, createdAt: at(ms) })),
        aFile({ id: 'held', createdAt: at(0) }),
      )
      await commit(storage, holdBy('s1', 'held'))
      const prune = async (limit: number) =>
        (await commit(storage, { type: 'file.prune', before: at(4), limit })).counts[0]

      expect(await prune(2)).toBe(2)
      expect(await idsOf(storage)).toEqual(['held', 'f3', 'f9'])
      expect([await prune(2), await prune(2)]).toEqual([1, 0])
      expect(await idsOf(storage)).toEqual(['held', 'f9'])
    },
  },
  {
    title: 'reports the hashes that a file without stored content has',
    async run(storage) {
      const [one, two, three] = ['1', '2', '3'].map((digit) => digit.repeat(64)) as [string, string, string]
      await insert(storage, aFile({ id: 'a', sha256: two }), aFile({ id: 'b', sha256: two }))
      await insert(storage, aFile({ id: 'c', sha256: one }))
      await commit(storage, { type: 'file.insert', file: aFile({ id: 'd', sha256: three }), content: base64(5) })

      expect(await storage.files.inUse([three, two, 'unknown', one])).toEqual([one, two])
      expect(await storage.files.inUse([])).toEqual([])
    },
  },
  ...keptFileCases,
]

/** Requirements for every `FileStore` and its writes. */
export const fileStoreContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'FileStore', cases: fileStoreCases }], harness)
