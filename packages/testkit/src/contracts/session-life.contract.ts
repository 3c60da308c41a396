import { EVERY_ROW, type SessionRecord, type Storage, type Write } from '@perdure/ports'
import { RUN_STATUS_NAMES } from '@perdure/protocol'
import { expect } from 'vitest'
import { aMessage, aRun, aSession } from '../builders.ts'
import { commit, refused } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

const SESSION = aSession({ title: 'old', metadata: { a: '1' } })

const insert = (storage: Storage, ...sessions: readonly SessionRecord[]) =>
  commit(storage, ...sessions.map((session) => ({ type: 'session.insert', session }) as const))
const update = (over: Partial<Extract<Write, { type: 'session.update' }>> = {}): Write => ({
  ...{ type: 'session.update', id: SESSION.id, from: SESSION, change: { title: 'new' }, at: at(5) },
  ...over,
})
const find = (storage: Storage, id = SESSION.id) => storage.sessions.find(id, EVERY_ROW)
const idsOf = (sessions: readonly SessionRecord[]) => sessions.map(({ id }) => id)

export const sessionLifeCases: readonly ContractCase[] = [
  {
    title: 'updates the named fields and updatedAt of one session only',
    async run(storage) {
      const other = aSession({ id: 'other', title: 'old', metadata: { a: '1' } })
      await insert(storage, SESSION, other)

      await commit(storage, update())
      expect(await find(storage)).toEqual({ ...SESSION, title: 'new', updatedAt: at(5) })

      const from = { title: 'new', metadata: { a: '1' } }
      await commit(storage, update({ from, change: { metadata: { ü: '"' } }, at: at(6) }))
      expect(await find(storage)).toEqual({ ...SESSION, title: 'new', metadata: { ü: '"' }, updatedAt: at(6) })
      expect(await find(storage, 'other')).toEqual(other)
    },
  },
  {
    title: 'sets the title of a session that has none',
    async run(storage) {
      await insert(storage, aSession())
      await commit(storage, update({ from: { metadata: {} }, change: { title: 'first' } }))

      expect(await find(storage)).toEqual(aSession({ title: 'first', updatedAt: at(5) }))
    },
  },
  {
    title: 'refuses an update based on a stale title or stale metadata and returns the session',
    async run(storage) {
      await insert(storage, SESSION)

      for (const from of [
        { ...SESSION, title: 'newer' },
        { metadata: SESSION.metadata },
        { ...SESSION, metadata: {} },
      ]) {
        expect((await refused(storage, update({ from }))).conflict).toEqual({
          type: 'session.update',
          current: SESSION,
        })
      }
      expect((await refused(storage, update({ id: 'unknown' }))).conflict).toEqual({ type: 'session.update' })
      expect(await find(storage)).toEqual(SESSION)
    },
  },
  {
    title: 'sets only updatedAt on a touch and ignores an unknown session',
    async run(storage) {
      await insert(storage, SESSION)

      const { counts } = await commit(
        storage,
        { type: 'session.touch', id: SESSION.id, at: at(8) },
        { type: 'session.touch', id: 'unknown', at: at(8) },
      )

      expect(counts).toEqual([1, 0])
      expect(await find(storage)).toEqual({ ...SESSION, updatedAt: at(8) })
    },
  },
  {
    title: 'treats a session as idle exactly from its last activity and lists the longest idle first',
    async run(storage) {
      await insert(
        storage,
        aSession({ id: 'b', updatedAt: at(3) }),
        aSession({ id: 'a', updatedAt: at(3) }),
        aSession({ id: 'late', updatedAt: at(4) }),
        aSession({ id: 'early', updatedAt: at(1) }),
      )

      expect(idsOf(await storage.sessions.idleSince({ until: at(0), limit: 10 }))).toEqual([])
      expect(idsOf(await storage.sessions.idleSince({ until: at(3), limit: 10 }))).toEqual(['early', 'a', 'b'])
    },
  },
  {
    title: 'pages through idle sessions without repeats or gaps',
    async run(storage) {
      await insert(storage, ...['c', 'a', 'd', 'b'].map((id) => aSession({ id, updatedAt: at(id === 'd' ? 2 : 1) })))

      const seen: string[] = []
      for (let page = await storage.sessions.idleSince({ until: at(9), limit: 1 }); page.length > 0; ) {
        seen.push(...idsOf(page))
        page = await storage.sessions.idleSince({ until: at(9), limit: 1, after: page.at(-1) })
      }

      expect(seen).toEqual(['a', 'b', 'c', 'd'])
    },
  },
  {
    title: 'treats a session as idle unless a run is queued or running',
    async run(storage) {
      const statuses = RUN_STATUS_NAMES
      await insert(storage, ...statuses.map((id) => aSession({ id })))
      for (const status of statuses) {
        await commit(storage, { type: 'run.insert', run: aRun({ id: `run-${status}`, status, sessionId: status }) })
      }

      const idle = idsOf(await storage.sessions.idleSince({ until: at(0), limit: 10 }))

      expect(idle).toEqual(['aborted', 'completed', 'failed', 'suspended'])
    },
  },
  {
    title: 'counts a message and a touch as activity',
    async run(storage) {
      await insert(storage, aSession({ id: 'spoken' }), aSession({ id: 'touched' }), aSession({ id: 'quiet' }))
      await commit(
        storage,
        { type: 'message.append', message: aMessage({ sessionId: 'spoken', createdAt: at(5) }) },
        { type: 'session.touch', id: 'touched', at: at(5) },
      )

      expect(idsOf(await storage.sessions.idleSince({ until: at(4), limit: 10 }))).toEqual(['quiet'])
    },
  },
]
