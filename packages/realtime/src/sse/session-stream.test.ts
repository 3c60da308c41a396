import { EVERY_ROW, isRefusal, type NewEvent } from '@perdure/ports'
import { anEvent, aSession } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createClient, createRunLog } from './run-log.fixture.ts'

const typesOf = (events: ReadonlyArray<{ readonly type: string }>) => events.map(({ type }) => type)
const refusalOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => (isRefusal(error) ? error : undefined),
  )

describe('openSessionStream', () => {
  const inSession = (type: string) => anEvent({ sessionId: 'chat', type })

  async function openChat() {
    const log = await createRunLog()
    const commit = (...events: readonly NewEvent[]) => log.unitOfWork.commit([{ type: 'event.append', events }])
    await log.unitOfWork.commit([{ type: 'session.insert', session: aSession({ id: 'chat' }) }])
    await commit(inSession('note.before'))
    const open = (lastEventId?: string) =>
      log.streams.openSessionStream({ sessionId: 'chat', visibility: EVERY_ROW, lastEventId })
    return { ...log, commit, open }
  }

  it('sends only new events if the client sends no cursor, otherwise the events after the cursor', async () => {
    const { open, commit } = await openChat()
    const client = createClient(await open())
    await client.read()
    await commit(inSession('note.live'), anEvent({ sessionId: 'other', type: 'note.other' }))
    await client.readUntil(2)
    const resumed = createClient(await open('e1.0'))
    await resumed.readUntil(3)

    expect(client.events.map(({ type, lastEventId }) => [type, lastEventId])).toEqual([
      ['message', 'e1.1'],
      ['note.live', 'e1.2'],
    ])
    expect(typesOf(resumed.events)).toEqual(['message', 'note.before', 'note.live'])
    expect(JSON.parse(resumed.events[1]?.data ?? '')).toMatchObject({ subject: 'session:chat/events' })
    await Promise.all([client.close(), resumed.close()])
  })

  it('keeps the stream open when a run of the session ends', async () => {
    const { open, commit } = await openChat()
    const client = createClient(await open('e1.0'))
    await commit(inSession('run.completed'), inSession('note.after'))
    await client.readUntil(4)

    expect(typesOf(client.events)).toEqual(['message', 'note.before', 'run.completed', 'note.after'])
    await client.close()
  })

  it('ends the stream when the session is deleted, without events of a later session with the same id', async () => {
    const { open, commit } = await openChat()
    const client = createClient(await open())
    await client.read()
    await commit(inSession('session.deleted'), inSession('session.created'))
    await client.readToEnd()

    expect(typesOf(client.events)).toEqual(['message', 'session.deleted'])
  })

  it('answers session-not-found for missing and invisible sessions', async () => {
    const { streams } = await openChat()

    for (const request of [
      { sessionId: 'none', visibility: EVERY_ROW },
      { sessionId: 'chat', visibility: { owner: 'bob' } },
    ] as const) {
      expect((await refusalOf(streams.openSessionStream(request)))?.code).toBe('session-not-found')
    }
  })
})
