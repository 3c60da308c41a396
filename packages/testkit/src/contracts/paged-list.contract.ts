import type { EpochMs, Page, PageQuery, Storage } from '@perdure/ports'
import { expect } from 'vitest'
import { BUILT_AT } from '../builders.ts'
import { pagesOf, walk } from './commits.ts'
import type { ContractCase } from './contract-case.ts'

export interface PagedRow {
  readonly id: string
  readonly createdAt: EpochMs
  /** Text that the record holds in its longest member. */
  readonly text: string
}

export interface PagedList {
  /** Plural noun for the listed records. */
  readonly noun: string
  /** Prepares the storage for inserts. */
  prepare?(storage: Storage): Promise<unknown>
  /** Inserts one record with this id, creation time and text. */
  insert(storage: Storage, row: PagedRow): Promise<unknown>
  list(storage: Storage, page: PageQuery): Promise<Page<{ readonly id: string }>>
}

const idOf = (index: number): string => `row-${String(index).padStart(3, '0')}`
const MEBIBYTE = 1024 * 1024
/** A text of this length in bytes of UTF-8, and of half as many characters. */
const textOf = (mebibytes: number): string => 'é'.repeat((mebibytes * MEBIBYTE) / 2)

const idsUpTo = (count: number): string[] => Array.from({ length: count }, (_, index) => idOf(index))
const ids = (records: readonly { readonly id: string }[]): string[] => records.map(({ id }) => id)

/** Requirements for every paged list. */
export function pagedListCases(paged: PagedList): readonly ContractCase[] {
  const { noun } = paged

  const insertMany = async (storage: Storage, count: number, from = 0): Promise<void> => {
    for (let index = from; index < from + count; index++) {
      await paged.insert(storage, { id: idOf(index), createdAt: (BUILT_AT + index) as EpochMs, text: 'short' })
    }
  }
  const open = async (storage: Storage, count: number): Promise<PagedList['list']> => {
    await paged.prepare?.(storage)
    await insertMany(storage, count)
    return paged.list
  }

  return [
    {
      title: `returns no items and no cursor for an empty list of ${noun}`,
      async run(storage) {
        await paged.prepare?.(storage)

        for (const order of ['asc', 'desc'] as const) {
          expect(await paged.list(storage, { limit: 50, order })).toEqual({ items: [], nextCursor: null })
        }
      },
    },
    {
      title: `lists ${noun} oldest first in ascending and newest first in descending order`,
      async run(storage) {
        const list = await open(storage, 5)

        expect(ids((await list(storage, { limit: 50, order: 'asc' })).items)).toEqual(idsUpTo(5))
        expect(ids((await list(storage, { limit: 50, order: 'desc' })).items)).toEqual(idsUpTo(5).reverse())
      },
    },
    {
      title: `pages through ${noun} in both orders without repeats or gaps, whatever the limit`,
      async run(storage) {
        const list = await open(storage, 7)

        for (const limit of [1, 2, 3, 6, 7, 8, 200]) {
          expect(ids(await walk((page) => list(storage, page), { limit, order: 'asc' }))).toEqual(idsUpTo(7))
          expect(ids(await walk((page) => list(storage, page), { limit, order: 'desc' }))).toEqual(idsUpTo(7).reverse())
        }
      },
    },
    {
      title: `fills a page of ${noun} up to its limit and returns a cursor only when more follow`,
      async run(storage) {
        const list = await open(storage, 4)

        const first = await list(storage, { limit: 2, order: 'asc' })
        expect([first.items.length, typeof first.nextCursor]).toEqual([2, 'string'])

        const last = await list(storage, { limit: 2, order: 'asc', cursor: first.nextCursor ?? undefined })
        expect([ids(last.items), last.nextCursor]).toEqual([[idOf(2), idOf(3)], null])
      },
    },
    {
      title: `ends a page of ${noun} at 4 MiB of content and gives a larger record a page of its own`,
      async run(storage) {
        await paged.prepare?.(storage)
        const sizes = [1.5, 1.5, 1.5, 5, 0, 0, 0]
        for (const [index, size] of sizes.entries()) {
          const createdAt = (BUILT_AT + index) as EpochMs
          await paged.insert(storage, { id: idOf(index), createdAt, text: textOf(size) })
        }
        const numbersOf = async (query: Pick<PageQuery, 'limit' | 'order'>) => {
          const pages = await pagesOf((page) => paged.list(storage, page), query)
          return pages.map((page) => page.map(({ id }) => Number(id.slice(-3))))
        }

        expect(await numbersOf({ limit: 200, order: 'asc' })).toEqual([[0, 1], [2], [3], [4, 5, 6]])
        expect(await numbersOf({ limit: 200, order: 'desc' })).toEqual([[6, 5, 4], [3], [2, 1], [0]])
        expect(await numbersOf({ limit: 2, order: 'desc' })).toEqual([[6, 5], [4], [3], [2, 1], [0]])
      },
    },
    {
      title: `reads the same page of ${noun} again from the same cursor`,
      async run(storage) {
        const list = await open(storage, 5)
        const cursor = (await list(storage, { limit: 2, order: 'desc' })).nextCursor ?? undefined

        const page = await list(storage, { limit: 2, order: 'desc', cursor })

        expect(ids(page.items)).toEqual([idOf(2), idOf(1)])
        expect(await list(storage, { limit: 2, order: 'desc', cursor })).toEqual(page)
      },
    },
    {
      title: `neither repeats nor loses ${noun} while others are inserted between two pages`,
      async run(storage) {
        const list = await open(storage, 6)

        for (const [order, inserted] of [
          ['desc', 6],
          ['asc', 9],
        ] as const) {
          const before = ids((await list(storage, { limit: 200, order })).items)
          const first = await list(storage, { limit: 3, order })
          await insertMany(storage, 3, inserted)
          const rest = await walk(
            (page) => list(storage, { ...page, cursor: page.cursor ?? first.nextCursor ?? undefined }),
            { limit: 2, order },
          )

          const seen = ids([...first.items, ...rest])
          expect(new Set(seen).size).toBe(seen.length)
          expect(seen).toEqual(expect.arrayContaining(before))
        }
      },
    },
  ]
}
