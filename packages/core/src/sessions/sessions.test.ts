import { EVERY_ROW, type PageQuery } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { parsedItems } from '../json/page-items.fixture.ts'
import { ALICE, ME, refusal, worldWith } from './sessions.fixture.ts'

const KEY = { id: 'k'.repeat(64), fingerprint: 'f' }
const PAGE: PageQuery = { limit: 50, order: 'desc' }

describe('createSession', () => {
  it('creates a session owned by the caller under a new id, with its event', async () => {
    const { createSession, storage, typesOf } = await worldWith()

    const reply = await createSession({ body: { title: 'hello' }, principal: ALICE })

    const { id } = reply.body as { id: string }
    expect(reply).toMatchObject({ status: 201, location: `/v1/sessions/${id}`, body: { owner: 'alice', metadata: {} } })
    expect(await storage.sessions.find(id, ME)).toMatchObject({ id, title: 'hello', owner: 'alice' })
    expect(await typesOf(id)).toEqual(['session.created'])
  })

  it('accepts an id from the caller unless a session of any owner already has that id', async () => {
    const { createSession } = await worldWith({ owner: 'bob' })

    expect((await createSession({ body: { id: 'mine' }, principal: ALICE })).location).toBe('/v1/sessions/mine')
    expect(await refusal(createSession({ body: { id: 'mine' }, principal: ALICE }))).toBe('session-exists')
    expect(await refusal(createSession({ body: { id: 'chat' }, principal: ALICE }))).toBe('session-exists')
  })

  it('keeps the ids of chats for chats', async () => {
    const { createSession } = await worldWith()
    const create = (id: string) => createSession({ body: { id }, principal: ALICE })

    const refusal = { code: 'session-exists', hint: 'choose another id: the server keeps ids of this form for chats' }
    await expect(create(`x${'0'.repeat(26)}`)).rejects.toMatchObject(refusal)
    expect(await create(`x${'0'.repeat(25)}`)).toMatchObject({ status: 201 })
  })

  it('creates one session for repeated requests with the same key', async () => {
    const { createSession, storage } = await worldWith()
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => createSession({ body: {}, principal: ALICE, key: KEY })),
    )

    expect(new Set(replies.map(({ location }) => location)).size).toBe(1)
    expect((await storage.sessions.list({}, PAGE, EVERY_ROW)).items).toHaveLength(2)
  })
})

describe('readSessions', () => {
  it('answers session-not-found for a session that the caller cannot see', async () => {
    const { readSessions } = await worldWith({ owner: 'bob' })

    for (const id of ['chat', 'unknown']) {
      expect(await refusal(readSessions.get(id, ME))).toBe('session-not-found')
      expect(await refusal(readSessions.messages(id, PAGE, ME))).toBe('session-not-found')
      expect(await refusal(readSessions.runs(id, PAGE, ME))).toBe('session-not-found')
    }
    expect((await readSessions.list({}, PAGE, ME)).items).toEqual([])
  })

  it('returns the transcript and the runs of a session', async () => {
    const { readSessions, run } = await worldWith()
    await run('echo', { body: { input: { text: 'hi' }, sessionId: 'chat' } })

    const messages = await readSessions.messages('chat', { limit: 10, order: 'asc' }, ME)
    expect(await parsedItems(messages.items)).toMatchObject([
      { seq: 1, role: 'user', content: { text: 'hi' } },
      { seq: 2, role: 'assistant', content: { text: 'hi' } },
    ])
    const { items } = await readSessions.runs('chat', PAGE, ME)
    expect(await parsedItems(items)).toMatchObject([{ sessionId: 'chat', status: 'completed', agentId: 'echo' }])
  })
})

describe('updateSession', () => {
  it('sets the given members, keeps the others and appends an event with the session', async () => {
    const { updateSession, readSessions, storage } = await worldWith({ metadata: { a: '1' } })

    await updateSession({ sessionId: 'chat', change: { metadata: { b: '2' } }, visibility: ME })

    expect(await readSessions.get('chat', ME)).toMatchObject({ title: 'old', metadata: { b: '2' } })
    const [event] = await storage.events.read({ sessionId: 'chat' }, { after: 0, limit: 9 })
    expect([event?.type, JSON.parse(event?.payload ?? '')]).toEqual([
      'session.updated',
      { id: 'chat', owner: 'alice', title: 'old', metadata: { b: '2' } },
    ])
  })

  it('accepts the metadata of the server as it shows them, and refuses other values in their place', async () => {
    const shown = { a: '1', 'interop.id': 'thread-1' }
    const { updateSession, storage } = await worldWith({ metadata: shown })
    const update = (metadata: Record<string, string>) =>
      updateSession({ sessionId: 'chat', change: { metadata }, visibility: ME })

    await update({ ...shown, b: '2' })
    expect((await storage.sessions.find('chat', ME))?.metadata).toEqual({ ...shown, b: '2' })
    for (const changed of [{ 'interop.id': 'thread-2' }, { ...shown, 'interop.ref': 'x' }]) {
      await expect(update(changed)).rejects.toMatchObject({
        code: 'validation-failed',
        message: expect.stringMatching(/^body\.metadata\.interop\.(id|ref): the server keeps its own value there/),
      })
    }
  })

  it('keeps the metadata of the server', async () => {
    const { updateSession, storage } = await worldWith({ metadata: { a: '1', 'interop.id': 'thread-1' } })

    await updateSession({ sessionId: 'chat', change: { metadata: {} }, visibility: ME })

    expect((await storage.sessions.find('chat', ME))?.metadata).toEqual({ 'interop.id': 'thread-1' })
  })

  it('applies many concurrent changes', async () => {
    const { updateSession } = await worldWith()
    const titles = Array.from({ length: 40 }, (_, n) => `title ${n}`)

    const replies = await Promise.all(
      titles.map((title) => updateSession({ sessionId: 'chat', change: { title }, visibility: ME })),
    )

    expect(replies.map(({ body }) => (body as { readonly title?: string }).title)).toEqual(titles)
  })

  it('applies two concurrent changes and answers each with the session after that change', async () => {
    const { updateSession, readSessions } = await worldWith()

    const [one, other] = await Promise.all([
      updateSession({ sessionId: 'chat', change: { title: 'new' }, visibility: ME }),
      updateSession({ sessionId: 'chat', change: { metadata: { a: '1' } }, visibility: ME }),
    ])

    expect(await readSessions.get('chat', ME)).toMatchObject({ title: 'new', metadata: { a: '1' } })
    expect([one.body, other.body]).toMatchObject([{ title: 'new' }, { title: 'new', metadata: { a: '1' } }])
  })

  it('rejects a change to a session that the caller cannot see', async () => {
    const { updateSession } = await worldWith({ owner: 'bob' })

    const request = { sessionId: 'chat', change: { title: 'mine' }, visibility: ME }
    expect(await refusal(updateSession(request))).toBe('session-not-found')
  })
})

describe('deleteSession', () => {
  it('aborts active runs, then leaves only the deletion event and the audit entry', async () => {
    const { deleteSession, run, storage, typesOf } = await worldWith()
    const accepted = await run('hold', { body: { input: 'x', sessionId: 'chat' }, answer: 'accepted' })

    const reply = await deleteSession({ sessionId: 'chat', visibility: ME, principal: ALICE })

    expect(reply).toEqual({ status: 204 })
    expect(await storage.runs.find(accepted.runId ?? '', EVERY_ROW)).toBeUndefined()
    expect(await storage.sessions.find('chat', EVERY_ROW)).toBeUndefined()
    expect(await typesOf('chat')).toEqual(['session.deleted'])
    expect(await storage.audit.read({ afterSeq: 0, limit: 9 })).toMatchObject([
      { action: 'sessions.delete', target: 'chat', actor: { subject: 'alice' } },
    ])
  })

  it('deletes once per key, even if a new session with the same id was created in the meantime', async () => {
    const { deleteSession, createSession, readSessions } = await worldWith()
    const request = { sessionId: 'chat', visibility: ME, principal: ALICE, key: { ...KEY, contentOf: 'chat' } }
    await deleteSession(request)
    await createSession({ body: { id: 'chat' }, principal: ALICE })

    expect(await refusal(deleteSession({ ...request, key: undefined, visibility: { owner: 'bob' } }))).toBe(
      'session-not-found',
    )
    expect(await deleteSession(request)).toMatchObject({ status: 204, replayed: true })
    expect(await readSessions.get('chat', ME)).toMatchObject({ id: 'chat' })
  })

  it('deletes the stored answers of idempotency keys but remembers that the keys were used', async () => {
    const { createSession, deleteSession, run, recall } = await worldWith()
    const created = { id: 'c'.repeat(64), fingerprint: 'f' }
    const ran = { id: 'r'.repeat(64), fingerprint: 'f' }
    await createSession({ body: { id: 'mine', title: 'secret' }, principal: ALICE, key: created })
    await run('echo', { body: { input: 'secret', sessionId: 'mine' }, key: ran })
    expect(JSON.stringify([await recall(created), await recall(ran)]).match(/secret/g)).toHaveLength(2)

    await deleteSession({ sessionId: 'mine', visibility: ME, principal: ALICE })

    for (const key of [created, ran]) {
      const reply = await recall(key)
      expect(reply).toMatchObject({ status: 404, replayed: true })
      expect(JSON.stringify(reply)).not.toMatch(/secret|mine/)
    }
  })

  it('deletes a session once for many concurrent requests', async () => {
    const { deleteSession, typesOf } = await worldWith()

    const outcomes = await Promise.all(
      Array.from({ length: 5 }, () => refusal(deleteSession({ sessionId: 'chat', visibility: ME, principal: ALICE }))),
    )

    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome === 'session-not-found')).toHaveLength(4)
    expect(await typesOf('chat')).toEqual(['session.deleted'])
  })
})

describe('the end of a run', () => {
  it('counts as activity of the session even if it appends no message', async () => {
    const { storage, run, abortRun, clock } = await worldWith()
    const { runId = '' } = await run('hold', { body: { sessionId: 'chat' }, answer: 'accepted' })
    clock.advance(5_000)
    await abortRun({ runId, visibility: EVERY_ROW })

    expect((await storage.sessions.find('chat', EVERY_ROW))?.updatedAt).toBe(clock.now())
  })
})
