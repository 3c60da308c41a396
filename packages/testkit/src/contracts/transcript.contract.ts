import { EVERY_ROW, type MessageRecord, type NewMessage, type Storage, toJsonText } from '@perdure/ports'
import { expect } from 'vitest'
import { aMessage, aRun, aSession } from '../builders.ts'
import { commit, insertRuns, refused, walk } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'
import { outlineCases } from './outline.contract.ts'
import { pagedListCases } from './paged-list.contract.ts'

const SESSION = aSession({ title: 'kept', metadata: { a: 'b' } })

const openSession = (storage: Storage, id = SESSION.id) =>
  commit(storage, { type: 'session.insert', session: { ...SESSION, id } })
const append = (storage: Storage, message: NewMessage) => commit(storage, { type: 'message.append', message })
const transcript = (storage: Storage, sessionId = SESSION.id): Promise<readonly MessageRecord[]> =>
  walk((page) => storage.sessions.messages(sessionId, page), { limit: 200, order: 'asc' })

const EVERY_MESSAGE = { limit: 200, order: 'asc' } as const
const outlined = (storage: Storage) => storage.sessions.outlineMessages(SESSION.id, EVERY_MESSAGE)

export const transcriptCases: readonly ContractCase[] = [
  {
    title: 'returns an empty transcript for an unknown session',
    async run(storage) {
      const page = await storage.sessions.messages('ses-unknown', { limit: 10, order: 'asc' })

      expect(page).toEqual({ items: [], nextCursor: null })
    },
  },
  {
    title: 'round-trips messages of both roles, with and without a run',
    async run(storage) {
      await openSession(storage)
      await insertRuns(storage, aRun())
      const messages = [
        aMessage({ id: 'm1', content: toJsonText({ text: 'Grüße 🚢' }) }),
        aMessage({ id: 'm2', role: 'assistant', runId: aRun().id, content: toJsonText(null), createdAt: at(5) }),
      ]
      for (const message of messages) await append(storage, message)

      expect(await transcript(storage)).toEqual(messages.map((message, index) => ({ ...message, seq: index + 1 })))
    },
  },
  {
    title: 'numbers the messages of each session from 1 without gaps',
    async run(storage) {
      await openSession(storage, 'one')
      await openSession(storage, 'two')
      for (const [index, sessionId] of ['one', 'two', 'one', 'one', 'two'].entries()) {
        await append(storage, aMessage({ id: `m${index}`, sessionId }))
      }

      expect((await transcript(storage, 'one')).map(({ id, seq }) => [id, seq])).toEqual([
        ['m0', 1],
        ['m2', 2],
        ['m3', 3],
      ])
      expect((await transcript(storage, 'two')).map(({ id, seq }) => [id, seq])).toEqual([
        ['m1', 1],
        ['m4', 2],
      ])
    },
  },
  {
    title: 'leaves no gap in a transcript when a commit is rolled back',
    async run(storage) {
      await openSession(storage)
      await append(storage, aMessage({ id: 'm1' }))
      await refused(
        storage,
        { type: 'message.append', message: aMessage({ id: 'undone' }) },
        { type: 'session.insert', session: SESSION },
      )
      await append(storage, aMessage({ id: 'm2' }))

      expect((await transcript(storage)).map(({ id, seq }) => [id, seq])).toEqual([
        ['m1', 1],
        ['m2', 2],
      ])
    },
  },
  {
    title: 'orders a transcript by seq rather than by the time or id of its messages',
    async run(storage) {
      await openSession(storage)
      await append(storage, aMessage({ id: 'z', createdAt: at(9) }))
      await append(storage, aMessage({ id: 'a', createdAt: at(1) }))

      expect((await transcript(storage)).map(({ id }) => id)).toEqual(['z', 'a'])
    },
  },
  {
    title: 'sets only updatedAt of the session when a message is appended',
    async run(storage) {
      await openSession(storage)
      await openSession(storage, 'neighbour')
      await append(storage, aMessage({ createdAt: at(77) }))

      expect(await storage.sessions.find(SESSION.id, EVERY_ROW)).toEqual({ ...SESSION, updatedAt: at(77) })
      expect(await storage.sessions.find('neighbour', EVERY_ROW)).toEqual({ ...SESSION, id: 'neighbour' })
    },
  },
  {
    title: 'replaces the content of the newest message that a user sent to a run, and counts 0 if there is none',
    async run(storage) {
      await openSession(storage)
      const sent = (id: string, runId?: string, role: 'user' | 'assistant' = 'user') =>
        append(storage, aMessage({ id, runId, role, content: toJsonText(id) }))
      await sent('older', 'run-1')
      await sent('question', 'run-1')
      await sent('answer', 'run-1', 'assistant')
      await sent('later', 'run-2')
      const replace = (runId: string, sessionId = SESSION.id) =>
        ({ type: 'message.replace', sessionId, runId, content: toJsonText('edited') }) as const

      const counts = await Promise.all(
        [replace('run-1'), replace('run-3'), replace('run-1', 'ses-unknown')].map((one) => commit(storage, one)),
      )

      expect(counts.map(({ counts: [count] }) => count)).toEqual([1, 0, 0])
      expect((await transcript(storage)).map(({ content }) => content)).toEqual(
        ['older', 'edited', 'answer', 'later'].map((content) => toJsonText(content)),
      )
    },
  },
  {
    title: 'refuses a message to an unknown session and returns no current session',
    async run(storage) {
      const outcome = await refused(storage, {
        type: 'message.append',
        message: aMessage({ sessionId: 'ses-unknown' }),
      })

      expect(outcome.conflict).toEqual({ type: 'message.append' })
      expect(await transcript(storage, 'ses-unknown')).toEqual([])
    },
  },
  {
    title: 'accepts a session and its first messages in one commit',
    async run(storage) {
      await commit(
        storage,
        { type: 'session.insert', session: SESSION },
        { type: 'message.append', message: aMessage({ id: 'm1' }) },
        { type: 'message.append', message: aMessage({ id: 'm2', role: 'assistant' }) },
      )

      expect((await transcript(storage)).map(({ seq }) => seq)).toEqual([1, 2])
    },
  },
  ...pagedListCases({
    noun: 'messages',
    prepare: (storage) => openSession(storage),
    insert: (storage, { id, createdAt, text }) =>
      append(storage, aMessage({ id, createdAt, content: toJsonText(text) })),
    list: (storage, page) => storage.sessions.messages(SESSION.id, page),
  }),
  ...pagedListCases({
    noun: 'outlined messages',
    prepare: (storage) => openSession(storage),
    insert: (storage, { id, createdAt, text }) =>
      append(storage, aMessage({ id, createdAt, content: toJsonText(text) })),
    list: (storage, page) => storage.sessions.outlineMessages(SESSION.id, page),
  }),
  ...outlineCases({
    noun: 'messages',
    async insert(storage, content) {
      await openSession(storage)
      await append(storage, aMessage({ content }))
    },
    texts: async (storage) => (await outlined(storage)).items.map(({ content }) => content),
    list: (storage) => storage.sessions.messages(SESSION.id, EVERY_MESSAGE),
    outline: outlined,
    remove: (storage) => commit(storage, { type: 'session.delete', id: SESSION.id, answer: { status: 404, body: '' } }),
  }),
]
