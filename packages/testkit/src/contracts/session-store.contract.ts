import { EVERY_ROW, type SessionRecord, type Storage, type Visibility } from '@perdure/ports'
import { expect } from 'vitest'
import { aMessage, aSession } from '../builders.ts'
import { commit, idsOf, refused } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { at, eachAlone, type Optionals } from './optional-fields.ts'
import { pagedListCases } from './paged-list.contract.ts'
import { sessionDeletionCases } from './session-deletion.contract.ts'
import { sessionFieldCases } from './session-field.contract.ts'
import { sessionLifeCases } from './session-life.contract.ts'
import { transcriptCases } from './transcript.contract.ts'

const OPTIONALS: Optionals<SessionRecord> = { title: 'Grüße 🚢', userId: 'user-7', agentId: 'echo' }

const ALL = ['a', 'b', 'c']

const SEEN: readonly (readonly [Visibility, readonly string[]])[] = [
  [EVERY_ROW, ALL],
  [{}, []],
  [{ owner: 'alice' }, ['a', 'c']],
  [{ owner: 'nobody' }, []],
  [{ ids: ['b', 'unknown'] }, ['b']],
  [{ ids: [] }, []],
  [{ owner: 'bob', ids: ['c'] }, ['b', 'c']],
  [{ owner: 'bob', ids: ['b'] }, ['b']],
  [{ agentIds: ['echo'] }, ['a']],
  [{ agentIds: 'all' }, ['a', 'b']],
  [{ owner: 'nobody', ids: [], agentIds: [] }, []],
]

/** The session `c` has no agent. */
const insertSeen = (storage: Storage) =>
  insertSessions(
    storage,
    aSession({ id: 'a', createdAt: at(0), owner: 'alice', agentId: 'echo' }),
    aSession({ id: 'b', createdAt: at(1), owner: 'bob', agentId: 'other' }),
    aSession({ id: 'c', createdAt: at(2), owner: 'alice' }),
  )

const insertSessions = (storage: Storage, ...sessions: readonly SessionRecord[]) =>
  commit(storage, ...sessions.map((session) => ({ type: 'session.insert', session }) as const))

export const sessionStoreCases: readonly ContractCase[] = [
  {
    title: 'finds no session for an unknown id',
    async run(storage) {
      await insertSessions(storage, aSession())

      expect(await storage.sessions.find('ses-unknown', EVERY_ROW)).toBeUndefined()
    },
  },
  {
    title: 'round-trips a session with all, one and none of the optional fields',
    async run(storage) {
      const sessions = [OPTIONALS, ...eachAlone(OPTIONALS), {}].map((fields, index) =>
        aSession({ id: `ses-${index}`, metadata: { 'a.b "c"': '\n', ü: '' }, updatedAt: at(index), ...fields }),
      )
      await insertSessions(storage, ...sessions)

      for (const session of sessions) expect(await storage.sessions.find(session.id, EVERY_ROW)).toEqual(session)
    },
  },
  {
    title: 'refuses a session with a taken id and returns the existing session',
    async run(storage) {
      await insertSessions(storage, aSession())

      const outcome = await refused(storage, { type: 'session.insert', session: aSession({ owner: 'bob' }) })

      expect(outcome.conflict).toEqual({ type: 'session.insert', current: aSession() })
      expect(await storage.sessions.find(aSession().id, EVERY_ROW)).toEqual(aSession())
    },
  },
  {
    title: 'lists exactly the sessions that the caller may see',
    async run(storage) {
      await insertSeen(storage)

      for (const [visibility, expected] of SEEN) {
        const listed = await idsOf((page) => storage.sessions.list({}, page, visibility))
        expect(listed, JSON.stringify(visibility)).toEqual(expected)
      }
    },
  },
  {
    title: 'finds exactly the sessions that the caller may see',
    async run(storage) {
      await insertSeen(storage)

      for (const [visibility, expected] of SEEN) {
        const found = await Promise.all(ALL.map((id) => storage.sessions.find(id, visibility)))
        const ids = found.flatMap((session) => (session === undefined ? [] : [session.id]))
        expect(ids, JSON.stringify(visibility)).toEqual(expected)
      }
    },
  },
  {
    title: 'fills pages with visible sessions only',
    async run(storage) {
      await insertSeen(storage)
      const list = (cursor?: string) =>
        storage.sessions.list({}, { limit: 1, order: 'desc', cursor }, { owner: 'alice' })

      const first = await list()
      const last = await list(first.nextCursor ?? undefined)

      expect([...first.items, ...last.items].map(({ id }) => id)).toEqual(['c', 'a'])
      expect(last.nextCursor).toBeNull()
    },
  },
  {
    title: 'keeps the list order of sessions when one receives a message',
    async run(storage) {
      await insertSeen(storage)
      await commit(storage, { type: 'message.append', message: aMessage({ sessionId: 'a', createdAt: at(9) }) })

      expect(await idsOf((page) => storage.sessions.list({}, page, EVERY_ROW))).toEqual(ALL)
    },
  },
  ...pagedListCases({
    noun: 'sessions',
    insert: (storage, { id, createdAt, text }) => insertSessions(storage, aSession({ id, createdAt, title: text })),
    list: (storage, page) => storage.sessions.list({}, page, EVERY_ROW),
  }),
  ...sessionFieldCases,
  ...sessionLifeCases,
  ...sessionDeletionCases,
  ...transcriptCases,
]

/** Requirements for every `SessionStore` and for writes of sessions and messages. */
export const sessionStoreContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'SessionStore', cases: sessionStoreCases }], harness)
