import {
  type ChatRecord,
  EVERY_ROW,
  type ListedChat,
  type NewChat,
  type Storage,
  type Visibility,
} from '@perdure/ports'
import { expect } from 'vitest'
import { aMessage, aRun, aSession } from '../builders.ts'
import { aChat } from '../chat-builders.ts'
import { commit, refused, walk } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { at } from './optional-fields.ts'
import { pagedListCases } from './paged-list.contract.ts'

const NEWEST = { limit: 200, order: 'desc' } as const
const OF_ECHO = { agentId: 'echo' }

/** A session with this id, and the chat that it is. */
const open = (storage: Storage, sessionId: string, over: Partial<NewChat> = {}) => {
  const chat = aChat({ sessionId, ...over })
  const { owner, createdAt } = chat
  const session = aSession({ id: sessionId, owner, createdAt, updatedAt: createdAt })
  return commit(storage, { type: 'session.insert', session }, { type: 'chat.insert', chat })
}

let messages = 0

interface Said {
  readonly role?: 'user' | 'assistant'
  readonly text?: string
  readonly after?: number
  readonly agentId?: string
}

const said = (sessionId: string, { role = 'user', text = 'hi', after = 0, agentId = 'echo' }: Said = {}) => ({
  type: 'message.append' as const,
  message: aMessage({ id: `m-${++messages}`, sessionId, role, createdAt: at(after) }),
  brief: { agentId, text },
})

const answered = (sessionId: string, said_: Said = {}) => said(sessionId, { role: 'assistant', ...said_ })

const find = async ({ chats }: Storage, id: string): Promise<ListedChat> => {
  const chat = await chats.find(id, EVERY_ROW)
  if (chat === undefined) throw new Error(`there is no chat ${id}`)
  return chat
}

const idsOf = async ({ chats }: Storage, visibility: Visibility = EVERY_ROW, agentId = 'echo') =>
  (await chats.list({ agentId }, NEWEST, visibility)).items.map(({ sessionId }) => sessionId)

const positions = ({ lastSeq, answerSeq, readSeq }: ChatRecord) => [lastSeq, answerSeq, readSeq]

export const chatStoreCases: readonly ContractCase[] = [
  ...pagedListCases({
    noun: 'chats',
    insert: (storage, { id, createdAt, text }) => open(storage, id, { createdAt, firstText: text }),
    async list(storage, page) {
      const { items, nextCursor } = await storage.chats.list(OF_ECHO, page, EVERY_ROW)
      return { items: items.map(({ sessionId: id }) => ({ id })), nextCursor }
    },
  }),
  {
    title: 'round-trips a chat with and without a title, and lists what it finds',
    async run(storage) {
      const plain = aChat({ sessionId: 'a', chatId: 'ü "x"', firstText: 'Grüße 🚢 \u0000' })
      const called = aChat({ sessionId: 'b', title: 'Ships\u0000' })
      for (const chat of [plain, called]) await open(storage, chat.sessionId, chat)

      const none = { lastSeq: 0, answerSeq: 0, readSeq: 0, updatedAt: at(0) }
      expect(await find(storage, 'a')).toEqual({ ...plain, ...none })
      expect(await find(storage, 'b')).toEqual({ ...called, ...none })
      const { items } = await storage.chats.list(OF_ECHO, NEWEST, EVERY_ROW)
      expect(items).toEqual([await find(storage, 'b'), await find(storage, 'a')])
    },
  },
  {
    title: 'refuses a chat without a session, and a chat of another agent, and repeats one without an effect',
    async run(storage) {
      await open(storage, 'a')
      const other = await refused(storage, { type: 'chat.insert', chat: aChat({ sessionId: 'a', agentId: 'other' }) })
      const missing = await refused(storage, { type: 'chat.insert', chat: aChat({ sessionId: 'nowhere' }) })
      const again = await commit(storage, {
        ...{ type: 'chat.insert', chat: aChat({ sessionId: 'a', firstText: 'later', chatId: 'other' }) },
      })

      const { sessionTitle: _, workingRunId: __, ...current } = await find(storage, 'a')
      expect(other.conflict).toEqual({ type: 'chat.insert', current })
      expect(missing.conflict).toEqual({ type: 'chat.insert' })
      expect(again.counts).toEqual([0])
      expect(current).toMatchObject({ firstText: 'hello', chatId: 'chat-1' })
    },
  },
  {
    title: 'shows the newest message of its agent, and what it is to the reader',
    async run(storage) {
      await open(storage, 'a')
      await commit(storage, said('a', { text: 'Where is it\u0000?', after: 1 }))
      expect(await find(storage, 'a')).toMatchObject({
        lastMessage: { role: 'user', text: 'Where is it\u0000?', at: at(1) },
        updatedAt: at(1),
      })
      expect(positions(await find(storage, 'a'))).toEqual([1, 0, 0])

      await commit(storage, answered('a', { text: 'There.', after: 2 }))
      expect(await find(storage, 'a')).toMatchObject({ lastMessage: { role: 'assistant', text: 'There.', at: at(2) } })
      expect(positions(await find(storage, 'a'))).toEqual([2, 2, 0])

      await commit(storage, said('a', { text: 'not ours', agentId: 'other', after: 3 }))
      await commit(storage, { ...said('a', { after: 4 }), brief: undefined })
      expect(await find(storage, 'a')).toMatchObject({ lastMessage: { text: 'There.' }, updatedAt: at(2), lastSeq: 2 })

      await commit(storage, said('a', { text: 'Thanks', after: -5 }))
      expect(await find(storage, 'a')).toMatchObject({ lastMessage: { text: 'Thanks', at: at(-5) }, updatedAt: at(2) })
      expect(positions(await find(storage, 'a'))).toEqual([5, 2, 0])
    },
  },
  {
    title: 'shows the last of several messages of one commit, also with the commit that opens the chat',
    async run(storage) {
      const session = aSession({ id: 'a' })
      await commit(
        storage,
        { type: 'session.insert', session },
        { type: 'chat.insert', chat: aChat({ sessionId: 'a' }) },
        said('a', { text: 'one', after: 1 }),
        answered('a', { text: 'two', after: 2 }),
      )
      expect(await find(storage, 'a')).toMatchObject({ lastMessage: { text: 'two' }, updatedAt: at(2) })
      expect(positions(await find(storage, 'a'))).toEqual([2, 2, 0])

      await commit(storage, answered('a', { text: 'three' }), said('a', { text: 'four' }))
      expect(positions(await find(storage, 'a'))).toEqual([4, 3, 0])
    },
  },
  {
    title: 'keeps the briefs of messages of different chats apart when they are committed together',
    async run(storage) {
      const ids = ['a', 'b', 'c', 'd']
      for (const id of ids) await open(storage, id)
      await Promise.all(ids.map((id) => commit(storage, answered(id, { text: `to ${id}`, after: 7 }))))

      for (const id of ids) {
        expect(await find(storage, id)).toMatchObject({ lastMessage: { text: `to ${id}` }, answerSeq: 1, lastSeq: 1 })
      }
    },
  },
  {
    title: 'moves the position of the reader, and never beyond the newest message',
    async run(storage) {
      await open(storage, 'a')
      await commit(storage, said('a'), answered('a'), said('a'), answered('a'))
      const read = async (value: number | 'all' | 'not-answer') => {
        await commit(storage, { type: 'chat.change', sessionId: 'a', change: { read: value } })
        return (await find(storage, 'a')).readSeq
      }

      // PostgreSQL plans the first statements of a connection with the values, and later ones without.
      expect(await read('all')).toBe(4)
      expect([await read(2), await read(99), await read('not-answer'), await read(1)]).toEqual([2, 4, 3, 1])
      expect([await read('not-answer'), await read('all'), await read(0)]).toEqual([1, 4, 0])
    },
  },
  {
    title: 'shows another newest message after one was edited or withdrawn, unless a newer one exists',
    async run(storage) {
      await open(storage, 'a')
      await open(storage, 'b')
      await commit(storage, answered('a', { text: 'There.', after: 1 }), said('a', { text: 'Thnaks', after: 2 }))
      await commit(storage, said('b', { text: 'other' }))
      const b = await find(storage, 'b')
      const show = async (
        from: number,
        last: { role: 'user' | 'assistant'; text: string; seq: number } | undefined,
      ) => {
        const shown = last === undefined ? undefined : { ...last, at: at(last.seq) }
        return (await commit(storage, { type: 'chat.last', sessionId: 'a', from, last: shown })).counts
      }

      expect(await show(2, { role: 'user', text: 'Thanks', seq: 2 })).toEqual([1])
      expect(await find(storage, 'a')).toMatchObject({ lastMessage: { role: 'user', text: 'Thanks', at: at(2) } })
      expect(await show(1, { role: 'user', text: 'late', seq: 1 })).toEqual([0])
      expect(await show(2, { role: 'assistant', text: 'There.', seq: 1 })).toEqual([1])
      expect(await find(storage, 'a')).toMatchObject({ lastMessage: { role: 'assistant', text: 'There.', at: at(1) } })
      expect(positions(await find(storage, 'a'))).toEqual([1, 1, 0])
      expect((await find(storage, 'a')).updatedAt).toBe(at(2))

      expect(await show(1, undefined)).toEqual([1])
      expect((await find(storage, 'a')).lastMessage).toBeUndefined()
      expect(await find(storage, 'b')).toEqual(b)
      const none = { type: 'chat.last', sessionId: 'plain', from: 0, last: undefined } as const
      expect((await commit(storage, none)).counts).toEqual([0])
    },
  },
  {
    title: 'changes the title and nothing else, and nothing of a session that is no chat',
    async run(storage) {
      await open(storage, 'a')
      await commit(storage, { type: 'session.insert', session: aSession({ id: 'plain' }) }, answered('a', { after: 3 }))
      const before = await find(storage, 'a')
      const changed = await commit(storage, { type: 'chat.change', sessionId: 'a', change: { title: 'Ships' } })
      const none = await commit(storage, { type: 'chat.change', sessionId: 'plain', change: { title: 'Ships' } })

      expect([changed.counts, none.counts]).toEqual([[1], [0]])
      expect(await find(storage, 'a')).toEqual({ ...before, title: 'Ships' })
      expect(await storage.chats.find('plain', EVERY_ROW)).toBeUndefined()
    },
  },
  {
    title: 'lists the chats of one agent by their newest message, and pages through them in both orders',
    async run(storage) {
      for (const id of ['a', 'b', 'c', 'd', 'e']) await open(storage, id)
      await open(storage, 'x', { agentId: 'other' })
      await commit(storage, said('b', { after: 5 }))
      await commit(storage, said('d', { after: 3 }))
      await commit(storage, said('x', { agentId: 'other', after: 9 }))

      const expected = ['b', 'd', 'e', 'c', 'a']
      expect(await idsOf(storage)).toEqual(expected)
      expect(await idsOf(storage, EVERY_ROW, 'other')).toEqual(['x'])
      for (const limit of [1, 2, 3, 5]) {
        for (const order of ['asc', 'desc'] as const) {
          const found = await walk((page) => storage.chats.list(OF_ECHO, page, EVERY_ROW), { limit, order })
          const ids = found.map(({ sessionId }) => sessionId)
          expect(order === 'desc' ? ids : ids.toReversed()).toEqual(expected)
        }
      }
    },
  },
  {
    title: 'finds and lists a chat only for a caller who may see its session or its agent',
    async run(storage) {
      await open(storage, 'a')
      await open(storage, 'b', { owner: 'bob' })
      await open(storage, 'c', { owner: 'bob' })

      expect(await idsOf(storage, { owner: 'bob' })).toEqual(['c', 'b'])
      expect(await idsOf(storage, { owner: 'alice', ids: ['b'] })).toEqual(['b', 'a'])
      expect(await idsOf(storage, { ids: ['c'] })).toEqual(['c'])
      expect(await idsOf(storage, { agentIds: ['echo'] })).toEqual(['c', 'b', 'a'])
      expect(await idsOf(storage, { agentIds: ['other'], workflowIds: 'all' })).toEqual([])
      expect(await idsOf(storage, {})).toEqual([])
      expect(await storage.chats.find('b', { owner: 'alice' })).toBeUndefined()
      expect(await storage.chats.find('b', { owner: 'bob' })).toMatchObject({ sessionId: 'b' })
    },
  },
  {
    title: 'shows the title of the session and the oldest turn of the agent that has not ended',
    async run(storage) {
      await open(storage, 'a')
      const turn = (id: string, over: Parameters<typeof aRun>[0] = {}) =>
        ({ type: 'run.insert', run: aRun({ id, sessionId: 'a', ...over }) }) as const
      await commit(storage, turn('run-0', { status: 'completed', createdAt: at(0) }))
      await commit(storage, turn('run-1', { targetId: 'other', createdAt: at(1) }))
      await commit(storage, turn('run-2', { parentRunId: 'run-9', createdAt: at(2) }))
      await commit(storage, turn('run-3', { withdrawnBy: 'run-9', createdAt: at(3) }))
      await commit(storage, turn('run-4', { kind: 'workflow', createdAt: at(4) }))
      expect((await find(storage, 'a')).workingRunId).toBeUndefined()

      await commit(storage, turn('run-6', { createdAt: at(6) }))
      await commit(storage, turn('run-5', { status: 'suspended', createdAt: at(5) }))
      const change = { title: 'Named' }
      await commit(storage, { type: 'session.update', id: 'a', from: { metadata: {} }, change, at: at(9) })
      expect(await find(storage, 'a')).toMatchObject({
        ...{ workingRunId: 'run-5', sessionTitle: 'Named', updatedAt: at(0) },
      })
    },
  },
  {
    title: 'deletes the chat with its session',
    async run(storage) {
      await open(storage, 'a')
      await open(storage, 'b')
      await commit(storage, { type: 'session.delete', id: 'a', answer: { status: 404, body: '{}' } })

      expect(await idsOf(storage)).toEqual(['b'])
      expect(await storage.chats.find('a', EVERY_ROW)).toBeUndefined()
    },
  },
]

/** Requirements for every `ChatStore` and its writes. */
export const chatStoreContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'ChatStore', cases: chatStoreCases }], harness)
