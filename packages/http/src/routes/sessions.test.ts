import { describe, expect, it } from 'vitest'
import { bodyOf, createTestApp, get, ORIGIN, post, refusalOf } from '../app.fixture.ts'

const send = (method: string, path: string, body?: unknown, headers = {}) =>
  new Request(`${ORIGIN}/v1${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

/** An app whose caller holds these scopes; `as` sets the caller's subject. */
function createAppFor(scopes: readonly string[]) {
  const authenticate = async () => ({ subject: who, scopes })
  let who = 'alice'
  const made = createTestApp({ deps: { authenticate } })
  return {
    ...made,
    as: (subject: string) => {
      who = subject
      return made.app
    },
  }
}

describe('/sessions', () => {
  it("answers 404 with the new request's id if the answer stored under the key was deleted with the session", async () => {
    const { app } = createTestApp()
    const run = (id: string) =>
      post('/agents/echo/run', { sessionId: 'chat', input: 1 }, { 'Idempotency-Key': 'k', 'X-Request-Id': id })
    await app.fetch(run('first'))
    await app.fetch(send('DELETE', '/sessions/chat'))

    const again = await app.fetch(run('second'))

    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([404, 'true'])
    expect(await bodyOf(again)).toMatchObject({ error: 'session-not-found', requestId: 'second' })
  })

  it('creates, reads, updates and deletes a session', async () => {
    const { app } = createTestApp()

    const created = await app.fetch(post('/sessions', { id: 'chat', title: 'Ships', metadata: { a: '1' } }))
    expect([created.status, created.headers.get('location')]).toEqual([201, '/v1/sessions/chat'])
    expect(await bodyOf(created)).toMatchObject({ id: 'chat', title: 'Ships', metadata: { a: '1' } })

    const changed = await app.fetch(send('PATCH', '/sessions/chat', { title: 'Boats' }))
    expect(await bodyOf(changed)).toMatchObject({ title: 'Boats', metadata: { a: '1' } })
    expect(await bodyOf(await app.fetch(get('/sessions/chat')))).toMatchObject({ title: 'Boats' })
    expect((await bodyOf(await app.fetch(get('/sessions')))).items).toMatchObject([{ id: 'chat' }])

    const deleted = await app.fetch(send('DELETE', '/sessions/chat'))
    expect([deleted.status, await deleted.text()]).toEqual([204, ''])
    expect(await refusalOf(await app.fetch(get('/sessions/chat')))).toEqual({ status: 404, error: 'session-not-found' })
  })

  it('replays the answer to a repeated creation, and rejects a different body under the same key', async () => {
    const { app } = createTestApp()
    const key = { 'Idempotency-Key': 'k' }
    const first = await bodyOf(await app.fetch(post('/sessions', { title: 'a' }, key)))

    const again = await app.fetch(post('/sessions', { title: 'a' }, key))

    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(await bodyOf(again)).toEqual(first)
    expect(await refusalOf(await app.fetch(post('/sessions', { title: 'b' }, key)))).toEqual({
      status: 409,
      error: 'idempotency-conflict',
    })
  })

  it.each([
    ['an id outside the grammar', { id: '../x' }, 'body.id'],
    ['an unknown member', { owner: 'bob' }, 'body.owner'],
    ['a title that is too long', { title: 'x'.repeat(513) }, 'body.title'],
    ['metadata that is not text', { metadata: { a: 1 } }, 'body.metadata.a'],
    ['too many metadata', { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [i, ''])) }, 'metadata'],
  ])('rejects %s and names its path', async (_, body, path) => {
    const { app } = createTestApp()

    const response = await app.fetch(post('/sessions', body))

    expect(response.status).toBe(400)
    expect(await bodyOf(response)).toMatchObject({ error: 'validation-failed', message: expect.stringContaining(path) })
  })

  it("shows a caller with an :own scope only the caller's sessions and answers 404 for all others", async () => {
    const scopes = ['sessions:read:own', 'sessions:write:own', 'sessions:export:own']
    const { as } = createAppFor(scopes)
    await as('alice').fetch(post('/sessions', { id: 'hers' }))
    await as('bob').fetch(post('/sessions', { id: 'his' }))
    expect((await bodyOf(await as('bob').fetch(get('/sessions')))).items).toMatchObject([{ id: 'his', owner: 'bob' }])

    const missing = await (await as('bob').fetch(get('/sessions/none', { 'X-Request-Id': 'r' }))).text()
    const requests = [
      get('/sessions/hers', { 'X-Request-Id': 'r' }),
      get('/sessions/hers/messages', { 'X-Request-Id': 'r' }),
      get('/sessions/hers/runs', { 'X-Request-Id': 'r' }),
      send('PATCH', '/sessions/hers', { title: 'x' }, { 'X-Request-Id': 'r' }),
      send('DELETE', '/sessions/hers', undefined, { 'X-Request-Id': 'r' }),
      send('POST', '/sessions/hers/export', undefined, { 'X-Request-Id': 'r' }),
    ]
    for (const request of requests) {
      const response = await as('bob').fetch(request)
      expect([response.status, await response.text()], `${request.method} ${request.url}`).toEqual([404, missing])
    }
    expect((await as('alice').fetch(get('/sessions/hers'))).status).toBe(200)
  })

  it('limits a scope for one session id to that session', async () => {
    const { as } = createAppFor(['sessions:read:mine', 'sessions:write'])
    await as('alice').fetch(post('/sessions', { id: 'mine' }))
    await as('alice').fetch(post('/sessions', { id: 'other' }))

    expect((await as('alice').fetch(get('/sessions/mine'))).status).toBe(200)
    expect(await refusalOf(await as('alice').fetch(get('/sessions/other')))).toEqual({
      status: 403,
      error: 'scope-denied',
    })
    expect((await bodyOf(await as('alice').fetch(get('/sessions')))).items).toMatchObject([{ id: 'mine' }])
    expect((await as('alice').fetch(send('POST', '/sessions/mine/export'))).status).toBe(403)
  })

  it('streams an export as lines, the last of which is a checksum', async () => {
    const { app } = createTestApp()
    await app.fetch(post('/agents/echo/run', { input: 'hi', sessionId: 'chat' }))

    const response = await app.fetch(send('POST', '/sessions/chat/export'))

    expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    const lines = (await response.text()).trimEnd().split('\n')
    const types = lines.map((line) => JSON.parse(line).type)
    expect([types[0], types.at(-1)]).toEqual(['session', 'checksum'])
    expect(types.filter((type) => type === 'message')).toHaveLength(2)
  })

  it('stops producing an export when the client disconnects', async () => {
    let read = 0
    let isEnded = false
    async function* lines() {
      try {
        for (;;) yield `${read++}\n`
      } finally {
        isEnded = true
      }
    }
    const { app } = createTestApp({ deps: { exportSession: async () => lines() } })
    const response = await app.fetch(send('POST', '/sessions/chat/export'))
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()

    expect([isEnded, read < 5]).toEqual([true, true])
  })
})
