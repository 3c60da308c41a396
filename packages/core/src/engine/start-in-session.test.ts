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

  it('answers session-not-found to a caller without access to the session', async () => {
    const engine = createTestEngine({ agents: [echo] })
    await engine.run('echo', { body: { sessionId: 'chat' } })

    const stranger = { subject: 'mallory', scopes: ['agents:invoke'] }
    await expect(engine.run('echo', { body: { sessionId: 'chat' }, principal: stranger })).rejects.toMatchObject({
      code: 'session-not-found',
    })
    const writer = { subject: 'bob', scopes: ['agents:invoke', 'sessions:write:chat'] }
    expect((await engine.run('echo', { body: { sessionId: 'chat' }, principal: writer })).status).toBe(200)
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
