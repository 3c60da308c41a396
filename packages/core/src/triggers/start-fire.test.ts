import { EVERY_ROW } from '@perdure/ports'
import { aSession } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createTriggerServer } from './triggers.fixture.ts'

const IN_CHAT = { id: 'chatty', kind: 'event', event: 'said', target: { agentId: 'echo', sessionId: 'chat' } } as const
const ANY_SESSION = { subject: 'alice', scopes: ['agents:invoke', 'sessions:write'] }

async function startServer() {
  const server = await createTriggerServer().start()
  return {
    ...server,
    insert: (owner: string) =>
      server.storage.unitOfWork.commit([
        {
          type: 'session.insert',
          session: aSession({ id: 'chat', owner, createdAt: server.clock.now(), updatedAt: server.clock.now() }),
        },
      ]),
    owner: async () => (await server.storage.sessions.find('chat', EVERY_ROW))?.owner,
    async fire() {
      await server.engine.emitEvent({ name: 'said', payload: 'hi' })
      await server.untilIdle()
      const { status, reason } = (await server.fires('chatty')).at(-1) ?? {}
      return [status, reason]
    },
  }
}

describe('startFire for a target that names a session', () => {
  it('creates the session for the creator of the trigger on first use, and later reuses the session', async () => {
    const { create, fire, owner, advance } = await startServer()
    await create(IN_CHAT)
    await advance(1_000)

    expect([await fire(), await fire(), await owner()]).toEqual([
      ['completed', undefined],
      ['completed', undefined],
      'alice',
    ])
  })

  it('creates the session again for the creator of the trigger after the session was deleted', async () => {
    const { create, insert, fire, owner, advance, storage, clock, call, triggers } = await startServer()
    await insert('alice')
    await create(IN_CHAT, { subject: 'alice', scopes: ['agents:invoke'] })
    await advance(1_000)
    await storage.unitOfWork.commit([{ type: 'session.delete', id: 'chat', at: clock.now() } as never])

    expect(await fire()).toEqual(['completed', undefined])
    expect(await owner()).toBe('alice')
    expect(await triggers.fireByHand(call('chatty'))).toMatchObject({ status: 202 })
  })

  it('uses an existing session of another owner if the creator of the trigger may write every session', async () => {
    const { create, insert, fire, advance } = await startServer()
    await insert('bob')
    await advance(1_000)
    await create(IN_CHAT, ANY_SESSION)

    expect(await fire()).toEqual(['completed', undefined])
  })

  it('fails the fire if another owner created the session after the trigger was created', async () => {
    const { create, insert, fire, advance, storage } = await startServer()
    await create(IN_CHAT)
    await advance(1_000)
    await insert('bob')

    expect(await fire()).toEqual(['failed', expect.stringContaining('session-not-found')])
    expect((await storage.sessions.messages('chat', { limit: 9, order: 'asc' })).items).toEqual([])
  })
})
