import { EVERY_ROW } from '@perdure/ports'
import { aSession } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createTriggerServer } from './triggers.fixture.ts'

const IN_CHAT = { id: 'chatty', kind: 'event', event: 'said', target: { agentId: 'echo', sessionId: 'chat' } } as const
const ANY_SESSION = { subject: 'alice', scopes: ['agents:invoke', 'sessions:write'] }

async function serving() {
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
      await server.settle()
      const { status, reason } = (await server.fires('chatty')).at(-1) ?? {}
      return [status, reason]
    },
  }
}

describe('a fire whose target names a session', () => {
  it('makes the session on first use, for whom the trigger acts for, and uses it from then on', async () => {
    const { create, fire, owner, pass } = await serving()
    await create(IN_CHAT)
    await pass(1_000)

    expect([await fire(), await fire(), await owner()]).toEqual([
      ['completed', undefined],
      ['completed', undefined],
      'alice',
    ])
  })

  it('uses what was there, and not theirs, when it was created by somebody who may use every session', async () => {
    const { create, insert, fire, pass } = await serving()
    await insert('bob')
    await pass(1_000)
    await create(IN_CHAT, ANY_SESSION)

    expect(await fire()).toEqual(['completed', undefined])
  })

  it('fails in a session that somebody else has made since the trigger was created', async () => {
    const { create, insert, fire, pass, storage } = await serving()
    await create(IN_CHAT)
    await pass(1_000)
    await insert('bob')

    expect(await fire()).toEqual(['failed', expect.stringContaining('session-not-found')])
    expect((await storage.sessions.messages('chat', { limit: 9, order: 'asc' })).items).toEqual([])
  })
})
