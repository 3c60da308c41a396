import { describe, expect, it } from 'vitest'
import { ADMIN, echoRequest, makeServer, startedServer, WITH_TOKENS } from './embedded-server.fixture.ts'

const TOKENS = { config: { auth: WITH_TOKENS } }
const alice = { subject: 'alice', scopes: ['agents:invoke', 'runs:read:own'] }
const get = (path: string, headers: Record<string, string> = {}) =>
  new Request(`http://localhost/v1${path}`, { headers })
const json = async (response: Response) => (await response.json()) as Record<string, string>

describe('a request of a user of the host', () => {
  it('acts for the user, and sees nothing of other users', async () => {
    const server = await startedServer(TOKENS)
    const { runId } = await json(await server.fetch(echoRequest('/v1'), { as: alice }))

    expect((await server.fetch(get(`/runs/${runId}`), { as: alice })).status).toBe(200)
    expect((await server.fetch(get(`/runs/${runId}`), { as: { ...alice, subject: 'bob' } })).status).toBe(404)
    const run = await json(
      await server
        .client(ADMIN)
        .runs.get(runId ?? '')
        .then((found) => Response.json(found)),
    )
    expect(run.owner).toBe('host:alice')
  })

  it('has the scopes that the host states, whatever credentials the request carries', async () => {
    const server = await startedServer(TOKENS)
    const { token } = await server.client(ADMIN).tokens.create({ name: 'admin', scopes: ['admin:*'] })

    const response = await server.fetch(get('/tokens', { authorization: `Bearer ${token}` }), { as: alice })

    expect([response.status, await json(response)]).toMatchObject([403, { error: 'scope-denied' }])
  })

  it.each([
    ['a page of another site', { origin: 'https://evil.example' }],
    ['another site, as the browser says', { 'sec-fetch-site': 'cross-site' }],
  ])('is refused when it comes from %s', async (_, headers) => {
    const server = await startedServer(TOKENS)

    const response = await server.fetch(echoRequest('/v1', headers), { as: alice })

    expect(response.status).toBe(403)
  })

  it('is refused from an origin that only * allows', async () => {
    const server = await startedServer({ config: { auth: WITH_TOKENS, server: { cors: { allowOrigins: ['*'] } } } })

    expect((await server.fetch(echoRequest('/v1', { origin: 'https://evil.example' }), { as: alice })).status).toBe(403)
    expect((await server.fetch(echoRequest('/v1', { origin: 'http://localhost' }), { as: alice })).status).toBe(200)
  })

  it.each([
    ['an empty subject', { ...alice, subject: '' }],
    ['a subject that is a number', { ...alice, subject: 7 as never }],
    ['an unknown scope', { ...alice, scopes: ['agents:fly'] }],
  ])('rejects %s as a mistake of the program', async (_, as) => {
    const server = await startedServer(TOKENS)

    await expect(server.fetch(get('/runs'), { as })).rejects.toBeInstanceOf(TypeError)
  })
})

describe('issueToken', () => {
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

  it('issues a token of the same user as requests of the host', async () => {
    const server = await startedServer(TOKENS)
    const { runId } = await json(await server.fetch(echoRequest('/v1'), { as: alice }))

    const { token, expiresAt } = await server.issueToken({ ...alice, expiresIn: '15m' })

    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(890_000)
    expect((await server.fetch(get(`/runs/${runId}`, bearer(token)))).status).toBe(200)
    expect((await server.fetch(get('/tokens', bearer(token)))).status).toBe(403)
  })

  it('issues tokens that end with the revocation of the user', async () => {
    const server = await startedServer(TOKENS)
    const { token } = await server.issueToken({ ...alice, expiresIn: 60_000 })

    await server.client(ADMIN).subjects.revoke('host:alice', {})

    const response = await server.fetch(get('/runs', bearer(token)))
    expect(await json(response)).toMatchObject({ error: 'auth-revoked' })
  })

  it.each<[object, string]>([
    [{ expiresIn: '2d' as const }, 'expiresIn must be'],
    [{ expiresIn: 0 }, 'expiresIn must be'],
    [{ subject: 'a b' }, 'subject must have'],
    [{ subject: undefined as never }, 'subject must have'],
    [{ subject: null as never }, 'subject must have'],
    [{ subject: '' }, 'subject must have'],
    [{ subject: 5 as never }, 'subject must have'],
    [{ scopes: ['agents:fly'] }, 'unknown scope agents:fly'],
  ])('refuses %j with a message that names the member', async (over, message) => {
    const server = await startedServer(TOKENS)

    await expect(server.issueToken({ ...alice, expiresIn: '1m', ...over })).rejects.toThrow(message)
  })

  it('is refused before the start', async () => {
    const server = await makeServer(TOKENS)

    await expect(server.issueToken({ ...alice, expiresIn: '1m' })).rejects.toMatchObject({ code: 'server-draining' })
  })
})

describe('a token with tokens:mint:sessions', () => {
  const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
  const USER = {
    name: 'user',
    subject: 'alice',
    scopes: ['agents:invoke:echo', 'runs:read:own'],
    expiresAt: inMinutes(30),
  }

  async function minter() {
    const server = await startedServer(TOKENS)
    const scopes = ['tokens:mint:sessions', 'agents:invoke:echo', 'agents:invoke:slow']
    const { token, id } = await server.client(ADMIN).tokens.create({ name: 'backend', scopes, subject: 'backend' })
    const mint = (over: object) =>
      server.fetch(
        new Request('http://localhost/v1/tokens', {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ ...USER, ...over }),
        }),
      )
    return { server, mint, id }
  }

  it('creates a token for a user that ends with its own', async () => {
    const { server, mint, id } = await minter()
    const minted = await json(await mint({}))
    const run = () => server.fetch(echoRequest('/v1', { authorization: `Bearer ${minted.token}` }))

    expect(minted.subject).toBe('host:alice')
    expect((await run()).status).toBe(200)
    await server.client(ADMIN).tokens.revoke(id)
    expect((await run()).status).toBe(401)
  })

  it.each([
    ['more than an hour', { expiresAt: inMinutes(61) }],
    ['no end', { expiresAt: undefined }],
    ['no subject', { subject: undefined }],
    ['every agent', { scopes: ['agents:invoke'] }],
    ['every agent by its star', { scopes: ['agents:invoke:*'] }],
    ['an agent that it may not run itself', { scopes: ['agents:invoke:other'] }],
    ['two agents', { scopes: ['agents:invoke:echo', 'agents:invoke:slow'] }],
    ['the runs of everybody', { scopes: ['runs:read'] }],
    ['decisions', { scopes: ['approvals:resolve:own'] }],
    ['its own right to mint', { scopes: ['tokens:mint:sessions'] }],
    ['everything', { scopes: ['admin:*'] }],
  ])('cannot create a token with %s', async (_, over) => {
    const { mint } = await minter()
    const response = await mint(over)

    expect([response.status, await json(response)]).toMatchObject([403, { error: 'scope-escalation-denied' }])
  })

  it('cannot create a token for another server user than a user of the host', async () => {
    const { mint } = await minter()

    expect((await json(await mint({ subject: 'jwt:app:alice' }))).subject).toBe('host:jwt:app:alice')
    expect((await json(await mint({ subject: 'owner' }))).subject).toBe('host:owner')
  })
})

describe('a subject of a user', () => {
  it.each(['jwt:app:alice', 'host:alice', 'chat:slack:U1'])(
    'cannot be given to an ordinary token: %s',
    async (subject) => {
      const server = await startedServer(TOKENS)

      await expect(
        server.client(ADMIN).tokens.create({ name: 'x', scopes: ['agents:read'], subject }),
      ).rejects.toMatchObject({ code: 'validation-failed' })
    },
  )

  it('cannot be revoked if it is a user of a chat platform, who has nothing to sign in with', async () => {
    const server = await startedServer(TOKENS)

    await expect(server.client(ADMIN).subjects.revoke('chat:slack:U1', {})).rejects.toMatchObject({
      code: 'validation-failed',
    })
  })
})
