import {
  EVERY_ROW,
  type PageQuery,
  type SessionFilter,
  type SessionRecord,
  type Storage,
  type Write,
} from '@perdure/ports'
import { expect } from 'vitest'
import { aSession } from '../builders.ts'
import { commit, idsOf, refused, walk } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

const SESSIONS: readonly SessionRecord[] = [
  aSession({ id: 'a', createdAt: at(0), userId: 'ada', agentId: 'echo', metadata: { ticket: '17' } }),
  aSession({ id: 'b', createdAt: at(1), userId: 'ada', agentId: 'other' }),
  aSession({ id: 'c', createdAt: at(2), agentId: 'echo', metadata: { ticket: '17', tier: 'gold', 'a.b "ü"': '' } }),
  aSession({ id: 'd', createdAt: at(3), owner: 'bob', userId: 'bob', metadata: { ticket: '18', tier: 'gold' } }),
  aSession({ id: 'e', createdAt: at(4) }),
]

const FILTERED: readonly (readonly [SessionFilter, readonly string[]])[] = [
  [{}, ['a', 'b', 'c', 'd', 'e']],
  [{ userId: 'ada' }, ['a', 'b']],
  [{ userId: 'nobody' }, []],
  [{ agentId: 'echo' }, ['a', 'c']],
  [{ agentId: 'ada' }, []],
  [{ agentId: 'echo', userId: 'ada' }, ['a']],
  [{ metadata: {} }, ['a', 'b', 'c', 'd', 'e']],
  [{ metadata: { ticket: '17' } }, ['a', 'c']],
  [{ metadata: { ticket: '17', tier: 'gold' } }, ['c']],
  [{ metadata: { tier: 'gold', ticket: '18' } }, ['d']],
  [{ metadata: { tier: '17' } }, []],
  [{ metadata: { toString: '17' } }, []],
  [{ metadata: { 'a.b "ü"': '' } }, ['c']],
  [{ metadata: { ticket: '17' }, userId: 'ada', agentId: 'echo' }, ['a']],
  [{ metadata: { ticket: '18' }, agentId: 'echo' }, []],
]

const insertAll = (storage: Storage) =>
  commit(storage, ...SESSIONS.map((session) => ({ type: 'session.insert', session }) as const))

const update = (id: string, from: SessionRecord['metadata'], metadata: SessionRecord['metadata']): Write => ({
  ...{ type: 'session.update', id, from: { metadata: from }, change: { metadata }, at: at(9) },
})

const listed = (storage: Storage, filter: SessionFilter) =>
  idsOf((page) => storage.sessions.list(filter, page, EVERY_ROW))

export const sessionFieldCases: readonly ContractCase[] = [
  {
    title: 'lists the sessions that have every value of the filter',
    async run(storage) {
      await insertAll(storage)

      for (const [filter, ids] of FILTERED) expect([filter, await listed(storage, filter)]).toEqual([filter, ids])
    },
  },
  {
    title: 'lists sessions by their metadata after the last change',
    async run(storage) {
      await insertAll(storage)
      await commit(storage, update('a', { ticket: '17' }, { ticket: '18' }))
      await commit(storage, update('e', {}, { ticket: '17' }))
      await commit(storage, update('d', { ticket: '18', tier: 'gold' }, {}))

      expect(await listed(storage, { metadata: { ticket: '17' } })).toEqual(['c', 'e'])
      expect(await listed(storage, { metadata: { ticket: '18' } })).toEqual(['a'])
      expect(await listed(storage, { metadata: { tier: 'gold' } })).toEqual(['c'])
      expect(await listed(storage, { userId: 'bob' })).toEqual(['d'])
    },
  },
  {
    title: 'lists a session by its unchanged metadata after a new title and after a refused update',
    async run(storage) {
      await insertAll(storage)
      const from = { metadata: { ticket: '17' } }
      await commit(storage, { type: 'session.update', id: 'a', from, change: { title: 'new' }, at: at(9) })
      await refused(storage, update('a', { ticket: 'stale' }, { ticket: '19' }))

      expect(await listed(storage, { metadata: { ticket: '17' } })).toEqual(['a', 'c'])
      expect(await listed(storage, { metadata: { ticket: '19' } })).toEqual([])
    },
  },
  {
    title: 'lists no deleted session by its values',
    async run(storage) {
      await insertAll(storage)
      await commit(storage, { type: 'session.delete', id: 'a', answer: { status: 410, body: '' } })

      expect(await listed(storage, { metadata: { ticket: '17' } })).toEqual(['c'])
      expect(await listed(storage, { userId: 'ada' })).toEqual(['b'])
    },
  },
  {
    title: 'pages through the sessions with a value in both orders, without repeats or gaps',
    async run(storage) {
      await insertAll(storage)

      for (const filter of [{ metadata: { tier: 'gold' } }, { userId: 'ada' }, { agentId: 'echo' }]) {
        const oldest = await listed(storage, filter)
        for (const order of ['asc', 'desc'] as const) {
          const list = (page: PageQuery) => storage.sessions.list(filter, page, EVERY_ROW)
          const ids = (await walk(list, { order, limit: 1 })).map(({ id }) => id)
          expect(ids).toEqual(order === 'asc' ? oldest : oldest.toReversed())
        }
      }
    },
  },
  {
    title: 'lists only the visible sessions with a value',
    async run(storage) {
      await insertAll(storage)
      const page: PageQuery = { limit: 50, order: 'asc' }

      const { items } = await storage.sessions.list({ metadata: { tier: 'gold' } }, page, { owner: 'bob' })
      expect(items.map(({ id }) => id)).toEqual(['d'])
    },
  },
]
