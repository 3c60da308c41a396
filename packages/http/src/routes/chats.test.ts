import type { Principal } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import { describe, expect, it, vi } from 'vitest'
import { bodyOf, createTestApp, get, ORIGIN, post, refusalOf } from '../app.fixture.ts'

const answering = (id: string) => ({
  ...{ id, description: 'Answers.' },
  agent: { id, run: async (input: unknown) => ({ text: `${id}: ${(input as { readonly text: string }).text}` }) },
})

function setUp(scopes: readonly string[] = ['admin:*']) {
  const on = { storage: createInMemoryStorage({ epoch: 'e1' }), clock: createManualClock() }
  const agents = [answering('a'), answering('b')]
  const as = (subject: string, held = scopes) => {
    const { app } = createTestApp({
      on,
      agents,
      deps: { authenticate: async (): Promise<Principal> => ({ subject, scopes: held }) },
    })
    const send = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
      app.fetch(
        new Request(`${ORIGIN}/v1${path}`, {
          method,
          headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
      )
    const list = async (agentId = 'a', query = '') => {
      const page = await bodyOf(await app.fetch(get(`/agents/${agentId}/chats${query}`)))
      return page as unknown as { readonly items: readonly Chat[]; readonly nextCursor: string | null }
    }
    /** Sends a message, and waits until the agent has answered it. */
    const say = async (chatId: string, text: string, { agentId = 'a', parts = [] as readonly object[] } = {}) => {
      const message = { id: `m-${text}`, role: 'user', parts: [{ type: 'text', text }, ...parts] }
      const response = await app.fetch(post(`/agents/${agentId}/chat`, { id: chatId, messages: [message] }))
      if (response.status !== 200) return response
      await vi.waitFor(async () => expect((await list(agentId)).items[0]).toMatchObject({ status: 'idle' }))
      on.clock.advance(1_000)
      return response
    }
    return { app, send, list, say }
  }
  return { ...on, as, ...as('alice') }
}

interface Chat {
  readonly chatId: string
  readonly sessionId: string
  readonly unread: boolean
  readonly title: string
  readonly updatedAt: string
  readonly lastMessage: { readonly seq: number; readonly text: string }
}

const refusal = async (response: Response) => {
  const { error, message } = (await bodyOf(response)) as { readonly error: string; readonly message: string }
  return { status: response.status, error, message }
}

const NOT_FOUND = { status: 404, error: 'session-not-found' }

describe('GET /agents/:agentId/chats', () => {
  it('lists the chats by their newest message, page by page', async () => {
    const { say, list } = setUp()
    for (const id of ['c1', 'c2', 'c3']) await say(id, `Hello ${id}`)
    await say('c1', 'Again')

    const first = await list('a', '?limit=2')
    const rest = await list('a', `?limit=2&cursor=${first.nextCursor}`)
    expect([...first.items, ...rest.items].map(({ chatId }) => chatId)).toEqual(['c1', 'c3', 'c2'])
    expect([first.items.length, rest.nextCursor]).toEqual([2, null])
    expect(first.items[0]).toMatchObject({ title: 'Hello c1', lastMessage: { seq: 4, text: 'a: Again' } })
    expect((await list('b')).items).toEqual([])
  })

  it('shows a caller its own chats, and those of others only with the right to read sessions', async () => {
    const { as, say } = setUp(['agents:invoke:a'])
    await say('c1', 'Of alice')
    const bob = as('bob')
    await bob.say('c1', 'Of bob')
    const titles = async ({ list }: Pick<typeof bob, 'list'>) => (await list()).items.map(({ title }) => title)

    expect(await titles(as('alice'))).toEqual(['Of alice'])
    expect(await titles(bob)).toEqual(['Of bob'])
    expect(await titles(as('carol', ['agents:invoke', 'sessions:read']))).toEqual(['Of bob', 'Of alice'])
    expect((await as('carol', ['sessions:read']).send('GET', '/agents/a/chats')).status).toBe(403)
    expect(await refusalOf(await as('carol', ['agents:invoke']).send('GET', '/agents/nobody/chats'))).toEqual({
      ...{ status: 404, error: 'agent-not-found' },
    })
  })

  it('has no session that is not a chat, and has one that was created before its first message', async () => {
    const { app, say, list } = setUp()
    await app.fetch(post('/agents/a/run', { sessionId: 'plain', input: { text: 'x' } }))
    await app.fetch(post('/sessions', { id: 'made', title: 'Made before' }))
    await app.fetch(post('/agents/a/run', { sessionId: 'made', input: { text: 'over REST' } }))
    await say('made', 'In a chat')
    await app.fetch(post('/agents/a/run', { sessionId: 'made', input: { text: 'over REST again' } }))

    expect((await list()).items).toMatchObject([
      { chatId: 'made', sessionId: 'made', title: 'Made before', lastMessage: { text: 'a: over REST again', seq: 6 } },
    ])
  })
})

describe('one chat', () => {
  it('is found by its id and by the id of its session, and not under another agent', async () => {
    const { as, say, send } = setUp()
    await say('my chat/1', 'Hello')
    const chat = await bodyOf(await send('GET', '/agents/a/chats/my%20chat%2F1'))

    expect(chat).toMatchObject({ chatId: 'my chat/1', title: 'Hello' })
    expect(await bodyOf(await send('GET', `/agents/a/chats/${chat.sessionId}`))).toEqual(chat)
    for (const path of [
      `/agents/b/chats/${chat.sessionId}`,
      '/agents/b/chats/my%20chat%2F1',
      '/agents/a/chats/other',
    ]) {
      for (const [method, body] of [['GET'], ['PATCH', { read: true }], ['DELETE']] as const)
        expect(await refusalOf(await send(method, path, body))).toEqual(NOT_FOUND)
      expect(await refusalOf(await send('POST', `${path}/fork`, {}))).toEqual(NOT_FOUND)
    }
    const bob = as('bob', ['agents:invoke'])
    expect(await refusalOf(await bob.send('GET', `/agents/a/chats/${chat.sessionId}`))).toEqual(NOT_FOUND)
    expect(await refusalOf(await bob.send('DELETE', `/agents/a/chats/${chat.sessionId}`))).toEqual(NOT_FOUND)
    expect(await refusalOf(await as('root').send('POST', `/agents/a/chats/${chat.sessionId}/fork`, {}))).toEqual(
      NOT_FOUND,
    )
  })

  it('is unread after an answer, until it is marked as read, and reading it marks nothing', async () => {
    const { say, send, list } = setUp()
    const unread = async () => (await list()).items[0]?.unread
    const mark = async (body: object) => (await bodyOf(await send('PATCH', '/agents/a/chats/c1', body))).unread
    await say('c1', 'Hello')
    await send('GET', '/agents/a/chat/c1/messages')
    await send('GET', '/agents/a/chats/c1')
    expect(await unread()).toBe(true)

    expect([await mark({ read: true }), await unread()]).toEqual([false, false])
    await say('c1', 'Again')
    expect(await unread()).toBe(true)
    expect([await mark({ readThrough: 3 }), await mark({ readThrough: 4 }), await unread()]).toEqual([
      true,
      false,
      false,
    ])
    expect([await mark({ read: false }), await unread()]).toEqual([true, true])
    expect(await refusal(await send('PATCH', '/agents/a/chats/c1', { read: true, readThrough: 1 }))).toMatchObject({
      ...{ status: 400, error: 'validation-failed', message: expect.stringContaining('exclude each other') },
    })
  })

  it('keeps the title of the user, does not move in the list, and tells the followers of its session', async () => {
    const { say, send, list, storage } = setUp()
    await say('c1', 'Hello')
    await say('c2', 'Hello')
    const before = (await list()).items[1]
    const renamed = await bodyOf(await send('PATCH', '/agents/a/chats/c1', { title: '  Ships ' }))

    expect(renamed).toMatchObject({ title: 'Ships', updatedAt: before?.updatedAt, unread: true })
    expect((await list()).items[1]).toEqual(renamed)
    const events = await storage.events.read({ sessionId: before?.sessionId ?? '' }, { after: 0, limit: 99 })
    expect(events.at(-1)).toMatchObject({ type: 'session.updated', payload: expect.stringContaining('Ships') })
    expect((await send('PATCH', '/agents/a/chats/c1', { title: ' ' })).status).toBe(400)
  })

  it('is deleted with its session, also while its agent works', async () => {
    const { say, send, list, app, storage } = setUp()
    await say('c1', 'Hello')
    await app.fetch(
      post('/agents/hold/chat', {
        id: 'h1',
        messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'x' }] }],
      }),
    )
    const held = (await list('hold')).items[0]
    expect(held).toMatchObject({ status: 'running', title: 'x', unread: false })
    const key = { 'Idempotency-Key': 'k' }

    for (const _ of [1, 2]) expect((await send('DELETE', '/agents/hold/chats/h1', undefined, key)).status).toBe(204)
    expect((await list('hold')).items).toEqual([])
    expect(await storage.sessions.find(held?.sessionId ?? '', EVERY_ROW)).toBeUndefined()
    expect(await refusalOf(await send('DELETE', '/agents/hold/chats/h1'))).toEqual(NOT_FOUND)
    expect((await list()).items).toHaveLength(1)
  })
})

describe('POST /agents/:agentId/chats/:chatId/fork', () => {
  it('makes one new chat for a repeated key, and refuses an id that is taken and one of the form of a run', async () => {
    const { say, send, list } = setUp()
    await say('c1', 'Hello')
    const fork = (body: object, key: string) =>
      send('POST', '/agents/a/chats/c1/fork', body, { 'Idempotency-Key': key })
    const first = await fork({ chatId: 'c2' }, 'k1')
    const again = await fork({ chatId: 'c2' }, 'k1')

    expect([first.status, first.headers.get('location')]).toEqual([201, '/v1/agents/a/chats/c2'])
    expect(await bodyOf(again)).toEqual(await bodyOf(first))
    expect(await refusalOf(await fork({ chatId: 'c2' }, 'k2'))).toEqual({ status: 409, error: 'session-exists' })
    expect(await refusal(await fork({ chatId: 'run_1' }, 'k3'))).toMatchObject({
      ...{ status: 400, error: 'validation-failed', message: expect.stringContaining('chatId') },
    })
    expect((await list()).items.map(({ chatId }) => chatId)).toEqual(['c2', 'c1'])
  })

  it('keeps the files of the messages until both chats are gone', async () => {
    const { say, send, storage } = setUp()
    const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]).toString('base64')
    const file = { type: 'file', mediaType: 'image/png', url: `data:image/png;base64,${png}` }
    await say('c1', 'Look', { parts: [file] })
    await send('POST', '/agents/a/chats/c1/fork', { chatId: 'c2' })
    const files = async () => (await storage.files.list({}, { limit: 9, order: 'asc' }, EVERY_ROW)).items
    const [stored] = await files()
    expect(await storage.files.holders(stored?.id ?? '')).toHaveLength(2)

    await send('DELETE', '/agents/a/chats/c1')
    expect(await files()).toEqual([stored])
    expect((await send('GET', `/files/${stored?.id}`)).status).toBe(200)
    await send('DELETE', '/agents/a/chats/c2')
    expect(await files()).toEqual([])
  })

  it('takes neither usage nor webhooks nor memory a second time', async () => {
    const { say, send, list, storage } = setUp()
    await say('c1', 'Hello')
    await send('POST', '/agents/a/chats/c1/fork', { chatId: 'c2' })
    const { sessionId = '' } = (await list()).items[0] ?? {}
    const { items } = await storage.runs.list({ sessionId }, { limit: 9, order: 'asc' }, EVERY_ROW)
    const log = await storage.events.read({ runId: items[0]?.id ?? '' }, { after: 0, limit: 99 })

    expect(items).toMatchObject([{ status: 'completed', usage: { toolCalls: 0 }, forkOf: { seq: 0 } }])
    expect(log.length).toBeGreaterThan(1)
    expect(log.filter(({ topic }) => topic !== undefined)).toEqual([])
    expect(log.every(({ payload }) => !payload.includes(items[0]?.forkOf?.runId ?? ''))).toBe(true)
    expect(await storage.consolidation.extractedThrough(sessionId)).toBe(2)
    const { owner = '', createdAt } = items[0] ?? {}
    expect(await storage.runs.usage(owner, createdAt ?? expect.fail('there is no copy'))).toMatchObject({
      activeRuns: 0,
      runsToday: 1,
    })
  })
})

describe('the id of a chat', () => {
  const thread = (threadId: string) => ({
    ...{ threadId, runId: `r-${threadId}`, messages: [{ id: 'm1', role: 'user', content: 'Hello' }] },
  })
  const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }

  it.each([
    ['POST', '/agents/a/chat', { id: 'run_1', messages: [message] }, 'body.id'],
    ['GET', '/agents/a/chat/run_1/messages', undefined, 'chatId'],
    ['POST', '/agents/a/ag-ui', thread('run_1'), 'body.threadId'],
  ])('may not have the form of a run: %s %s', async (method, path, body, member) => {
    const { send } = setUp()

    expect(await send(method, path, body).then(async (response) => [response.status, await response.text()])).toEqual([
      400,
      expect.stringContaining(`${member}: must not begin with run_`),
    ])
  })

  it.each([
    ['GET', '/agents/a/chat/run_1/stream'],
    ['POST', '/agents/a/chat/run_1/stop'],
  ])('is that of a response where the SDK names it by its run, which must exist: %s %s', async (method, path) => {
    const response = await setUp().send(method, path, method === 'POST' ? {} : undefined)

    expect([response.status, (await bodyOf(response)).error]).toEqual([404, 'run-not-found'])
  })

  it('belongs to one agent: another one neither sees nor answers the chat, whatever protocol names it', async () => {
    const { say, send, list, storage } = setUp()
    await say('c1', 'Hello')
    const { sessionId = '' } = (await list()).items[0] ?? {}
    const before = await storage.runs.list({}, { limit: 99, order: 'asc' }, EVERY_ROW)

    for (const id of ['c1', sessionId]) {
      const refused = [
        await say(id, 'To b', { agentId: 'b' }),
        await send('GET', `/agents/b/chat/${id}/messages`),
        await send('GET', `/agents/b/chat/${id}/stream`),
        await send('POST', `/agents/b/chat/${id}/stop`),
        await send('POST', '/agents/b/ag-ui', thread(id)),
      ]
      for (const response of refused) {
        const text = await response.text()
        expect([response.status, text]).toEqual([400, expect.stringContaining('belongs to the agent a')])
        expect(text).not.toContain('Hello')
      }
    }
    expect(await storage.runs.list({}, { limit: 99, order: 'asc' }, EVERY_ROW)).toEqual(before)
    expect((await list('b')).items).toEqual([])
  })

  it('belongs to the agent of its first message, also in a session that was created without an agent', async () => {
    const { app, say, list } = setUp()
    await app.fetch(post('/sessions', { id: 'made' }))
    await say('made', 'Hello')
    const refused = await say('made', 'To b', { agentId: 'b' })

    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('belongs to the agent a')])
    expect([(await list('a')).items.length, (await list('b')).items.length]).toEqual([1, 0])
  })

  it('names another chat for another caller', async () => {
    const { as, say } = setUp(['agents:invoke'])
    await say('c1', 'Of alice')
    const bob = as('bob')
    await bob.say('c1', 'Of bob', { agentId: 'b' })

    expect((await bob.list('b')).items).toMatchObject([{ chatId: 'c1', title: 'Of bob' }])
    expect((await as('alice').list('a')).items).toMatchObject([{ chatId: 'c1', title: 'Of alice' }])
  })
})
