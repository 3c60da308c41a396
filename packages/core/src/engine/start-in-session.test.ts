import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { ALICE, agentOf, createTestEngine } from './test-engine.fixture.ts'

const echo = agentOf('echo', async (input) => input)

describe('startRun in a session', () => {
  it('creates the session on first use and appends both sides of the conversation', async () => {
    const engine = createTestEngine({ agents: [echo] })

    await engine.run('echo', { body: { input: 'one', sessionId: 'chat' } })
    await engine.run('echo', { body: { input: 'two', sessionId: 'chat' } })

    const { items } = await engine.storage.sessions.messages('chat', { limit: 10, order: 'asc' })
    expect(items.map(({ seq, role, content }) => [seq, role, content])).toEqual([
      [1, 'user', '"one"'],
      [2, 'assistant', '"one"'],
      [3, 'user', '"two"'],
      [4, 'assistant', '"two"'],
    ])
    const log = await engine.storage.events.read({ sessionId: 'chat' }, { after: 0, limit: 100 })
    expect(log.filter(({ type }) => type === 'session.created')).toHaveLength(1)
  })

  it('executes the runs of a session in the order of their creation, also when reads are answered in another order', async () => {
    const storage = createInMemoryStorage()
    const delays = [30, 10, 0, 20]
    const find: typeof storage.sessions.find = async (...args) => {
      await new Promise((resolve) => setTimeout(resolve, delays.pop() ?? 0))
      return storage.sessions.find(...args)
    }
    const executed: string[] = []
    const serial = agentOf('serial', async (_, { runId }) => void executed.push(runId), { concurrency: 'single' })
    const engine = createTestEngine({
      agents: [serial],
      storage: { ...storage, sessions: { ...storage.sessions, find } },
    })

    await Promise.all([1, 2, 3, 4].map((input) => engine.run('serial', { body: { input, sessionId: 'chat' } })))

    const { items } = await storage.runs.list({ sessionId: 'chat' }, { limit: 9, order: 'asc' }, EVERY_ROW)
    expect(executed).toEqual(items.map(({ id }) => id))
  })

  it('answers session-not-found to a caller without access to the session', async () => {
    const engine = createTestEngine({ agents: [echo] })
    await engine.run('echo', { body: { sessionId: 'chat' } })

    const stranger = { subject: 'mallory', scopes: ['agents:invoke', 'sessions:write:own'] }
    await expect(engine.run('echo', { body: { sessionId: 'chat' }, principal: stranger })).rejects.toMatchObject({
      code: 'session-not-found',
    })
    const writer = { subject: 'bob', scopes: ['agents:invoke', 'sessions:write:chat'] }
    expect((await engine.run('echo', { body: { sessionId: 'chat' }, principal: writer })).status).toBe(200)
  })

  it('creates no session under an id that the server keeps for chats, except for a chat', async () => {
    const engine = createTestEngine({ agents: [echo] })
    const sessionId = `x${'0'.repeat(26)}`
    const body = { input: 'one', sessionId }

    await expect(engine.run('echo', { body })).rejects.toMatchObject({
      code: 'session-not-found',
      hint: expect.stringContaining('for chats'),
    })
    expect((await engine.run('echo', { body, newSession: { metadata: {} } })).status).toBe(200)
    expect((await engine.run('echo', { body })).status).toBe(200)
  })

  it('joins only a session of the caller when the run may create its session', async () => {
    const engine = createTestEngine({ agents: [echo] })
    await engine.run('echo', { body: { sessionId: 'taken' } })
    const principal = { subject: 'boss', scopes: ['admin:*'] }
    const chat = (sessionId: string) =>
      engine.run('echo', { body: { sessionId }, principal, newSession: { metadata: { from: 'chat' } } })

    await expect(chat('taken')).rejects.toMatchObject({ code: 'session-not-found' })
    expect((await chat('free')).status).toBe(200)
    expect((await chat('free')).status).toBe(200)
  })

  it('creates no session for a caller without sessions:write, and answers as for a session of another owner', async () => {
    const engine = createTestEngine({ agents: [echo] })
    await engine.run('echo', { body: { sessionId: 'taken' } })
    const principal = { subject: 'mallory', scopes: ['agents:invoke', 'sessions:read', 'sessions:write:other'] }
    const refusal = (sessionId: string) =>
      engine.run('echo', { body: { sessionId }, principal }).then(
        () => 'started',
        ({ code, message, hint }) => ({ code, message, hint }),
      )

    expect(await refusal('free')).toEqual({
      code: 'session-not-found',
      message: expect.any(String),
      hint: expect.stringContaining('sessions:write:own'),
    })
    expect(await refusal('taken')).toEqual(await refusal('free'))
    expect(await engine.storage.sessions.find('free', EVERY_ROW)).toBeUndefined()
    expect(
      (await engine.storage.runs.list({ sessionId: 'free' }, { limit: 9, order: 'asc' }, EVERY_ROW)).items,
    ).toEqual([])
  })

  it.each([
    ['sessions:write:own', {}],
    ['sessions:write:free', {}],
    ['sessions:read', { createSessionOnInvoke: true }],
  ] as const)(
    'creates the session that a run names for a caller with %s and the options %j',
    async (scope, options) => {
      const engine = createTestEngine({ agents: [echo], ...options })
      const principal = { subject: 'bob', scopes: ['agents:invoke', scope] }

      expect((await engine.run('echo', { body: { sessionId: 'free' }, principal })).status).toBe(200)
      expect(await engine.storage.sessions.find('free', EVERY_ROW)).toMatchObject({ owner: 'bob' })
    },
  )

  it('runs in a session of the caller without any session scope', async () => {
    const engine = createTestEngine({ agents: [echo] })
    await engine.run('echo', { body: { sessionId: 'mine' } })

    const principal = { subject: 'alice', scopes: ['agents:invoke'] }
    expect((await engine.run('echo', { body: { sessionId: 'mine' }, principal })).status).toBe(200)
  })

  it('creates a session once for many concurrent runs', async () => {
    const engine = createTestEngine({ agents: [echo] })

    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        engine.run('echo', { body: { input: n, sessionId: 'chat' }, principal: ALICE }),
      ),
    )

    expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200))
    const { items } = await engine.storage.sessions.messages('chat', { limit: 100, order: 'asc' })
    expect(items.map(({ seq }) => seq)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1))
  })
})
