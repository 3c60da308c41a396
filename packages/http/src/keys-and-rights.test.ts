import { OPERATIONS, type Operation, protocolOf } from '@perdure/protocol'
import { aBlock, aFact, aMemoryConflict, anApproval, aRun, aSession, aWebhook } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { bearer, bodyOf, createTestApp, post } from './app.fixture.ts'
import { toRequest } from './operation-request.fixture.ts'

const KEY = { 'Idempotency-Key': 'deploy-1' }
const KEYED = OPERATIONS.filter(({ idempotent }) => idempotent)
const SEALED = KEYED.filter(({ sealed }) => sealed === true)
const byId = (operation: Operation) => [operation.id, operation] as const

interface Answered {
  readonly status: number
  readonly isReplayed: boolean
  readonly body: Record<string, unknown>
}

async function answeredBy(response: Response): Promise<Answered> {
  const isReplayed = response.headers.get('idempotency-replayed') === 'true'
  const hasBody = /^(?:application\/json|text\/plain)/.test(response.headers.get('content-type') ?? '')
  const { requestId: _, ...body } = hasBody ? await bodyOf(response) : {}
  return { status: response.status, isReplayed, body }
}

function setUp() {
  const { app, manage, storage } = createTestApp({ auth: 'token' })
  const mint = async (...scopes: string[]) => {
    const { token, record } = await manage.mint({ name: 'm', scopes, subject: 'alice' }, 'test')
    return { token, id: record.id }
  }
  const send = async (token: string, path: string, body: unknown = {}) =>
    answeredBy(await app.fetch(post(path, body, { ...bearer(token), ...KEY })))
  const call = async (token: string, operation: Operation, id?: string) =>
    answeredBy(await app.fetch(toRequest(operation, { headers: { ...bearer(token), ...KEY }, id })))
  return { app, storage, mint, send, call }
}

const refused = (status: number, error: string) => ({ status, isReplayed: false, body: { error } })

describe('the key of an answer with a secret', () => {
  const ADMIN_TOKEN = { name: 'ci', scopes: ['admin:*'] }

  it('does not hand a minted token to a narrower token of the same subject', async () => {
    const { mint, send } = setUp()
    const wide = await mint('admin:*')
    const narrow = await mint('tokens:create')

    expect(await send(wide.token, '/tokens', ADMIN_TOKEN)).toMatchObject({ status: 201 })
    expect(await send(narrow.token, '/tokens', ADMIN_TOKEN)).toMatchObject(refused(403, 'scope-escalation-denied'))
    expect(await send(wide.token, '/tokens', ADMIN_TOKEN)).toMatchObject({ status: 201, isReplayed: true })
  })

  it('does not hand a rotated token to a narrower token of the same subject', async () => {
    const { mint, send } = setUp()
    const [wide, target, narrow] = [await mint('admin:*'), await mint('admin:*'), await mint('tokens:revoke')]
    const path = `/tokens/${target.id}/rotate`

    expect(await send(wide.token, path, { graceSeconds: 60 })).toMatchObject({ status: 201 })
    const repeated = await send(narrow.token, path, { graceSeconds: 60 })

    expect(repeated).toMatchObject(refused(404, 'token-not-found'))
    expect(JSON.stringify(repeated.body)).not.toContain('perdure_')
  })

  it('does not hand it to a token that the first caller has minted', async () => {
    const { mint, send } = setUp()
    const wide = await mint('admin:*')
    const minted = await send(wide.token, '/tokens', { name: 'child', scopes: ['tokens:create'], subject: 'alice' })

    const child = await send(String(minted.body.token), '/tokens', {
      ...{ name: 'child', scopes: ['tokens:create'], subject: 'alice' },
    })

    expect(child).toMatchObject({ status: 201, isReplayed: false })
    expect(child.body.token).not.toBe(minted.body.token)
  })

  it.each([0, 60])('replays it to the token that replaced the first caller %i s before', async (graceSeconds) => {
    const { mint, send } = setUp()
    const old = await mint('admin:*')
    const first = await send(old.token, '/tokens', ADMIN_TOKEN)
    const fresh = await send(old.token, `/tokens/${old.id}/rotate`, { graceSeconds })
    const newest = await send(String(fresh.body.token), `/tokens/${fresh.body.id}/rotate`, { graceSeconds })

    expect(await send(String(newest.body.token), '/tokens', ADMIN_TOKEN)).toEqual({ ...first, isReplayed: true })
    const byOld = await send(old.token, '/tokens', ADMIN_TOKEN)
    expect(byOld).toMatchObject(graceSeconds > 0 ? { ...first, isReplayed: true } : { status: 401 })
  })

  it('replays it to every client of a server without authentication', async () => {
    const { app } = createTestApp()
    const mintTicket = async () => answeredBy(await app.fetch(post('/session/ws-ticket', {}, KEY)))
    const first = await mintTicket()

    expect(first).toMatchObject({ status: 201, isReplayed: false })
    expect(await mintTicket()).toEqual({ ...first, isReplayed: true })
  })

  it.each(SEALED.map(byId))('is another key for another token of the same subject: %s', async (_, operation) => {
    const { mint, call, storage } = setUp()
    const [one, other, target] = [await mint('admin:*'), await mint('admin:*'), await mint('agents:read')]
    await storage.unitOfWork.commit([{ type: 'webhook.insert', webhook: aWebhook({ id: target.id }) }])

    const first = await call(one.token, operation, target.id)
    const second = await call(other.token, operation, target.id)

    expect([200, 201]).toContain(first.status)
    expect(second.isReplayed).toBe(false)
    const { token, ticket, secret, code } = first.body
    expect(JSON.stringify(second.body)).not.toContain(token ?? ticket ?? secret ?? code)
    expect(await call(one.token, operation, target.id)).toEqual({ ...first, isReplayed: true })
    expect(await storage.tokens.rootOf(one.id)).toBe(one.id)
  })

  it('covers every operation whose answer holds a secret', () => {
    expect(SEALED.map(({ id }) => id).sort()).toEqual([
      'console.create-code',
      'realtime.create-ws-ticket',
      'tokens.create',
      'tokens.rotate',
      'webhooks.create',
      'webhooks.rotate',
    ])
  })
})

describe('a repeated key', () => {
  it.each(KEYED.filter(({ scope }) => scope !== 'principal').map(byId))(
    'gets a 403 once the scope was taken away: %s',
    async (_, operation) => {
      const scopes = ['admin:*']
      const { app } = createTestApp({ deps: { authenticate: async () => ({ subject: 'alice', scopes }) } })
      const send = async () => answeredBy(await app.fetch(toRequest(operation, { headers: KEY })))
      const { status } = await send()
      expect(status).not.toBe(403)
      scopes.splice(0, 1, 'audit:verify')

      expect(await send()).toMatchObject(refused(403, 'scope-denied'))
    },
  )

  it('of a raw replay gets a 403 once the token may read only sanitized traces', async () => {
    const scopes = ['admin:*']
    const { app, storage } = createTestApp({ deps: { authenticate: async () => ({ subject: 'alice', scopes }) } })
    await storage.unitOfWork.commit([{ type: 'run.insert', run: aRun({ id: 'r1' }) }])
    const send = async () => answeredBy(await app.fetch(post('/runs/r1/replay', { raw: true }, KEY)))
    expect((await send()).status).toBe(200)
    scopes.splice(0, 1, 'traces:read:sanitized')

    expect(await send()).toMatchObject(refused(403, 'scope-denied'))
  })
})

/** Operations on one row whose visibility depends on the token. The id of a chat names a chat of the caller. */
const ROW_OPERATIONS = KEYED.filter((operation) => {
  const { path, scope, sight } = operation
  if (protocolOf(operation) !== undefined) return false
  const isOwned = typeof scope === 'string' && /^(?:sessions|memory|approvals):/.test(scope)
  return path.includes('/:') && (isOwned || sight !== undefined) && !path.startsWith('/events')
})

describe('a key that was used for a row of another owner', () => {
  async function withRows() {
    const made = setUp()
    for (const owner of ['alice', 'bob']) {
      const id = `of-${owner}`
      const outcome = await made.storage.unitOfWork.commit([
        { type: 'session.insert', session: aSession({ id, owner }) },
        { type: 'run.insert', run: aRun({ id, owner, status: 'completed', targetId: 'echo', result: undefined }) },
        { type: 'approval.insert', approval: anApproval({ id, owner, runId: id }) },
        { type: 'fact.insert', fact: aFact({ id, owner }) },
        { type: 'block.put', block: aBlock({ id, owner, label: id }) },
        { type: 'conflict.open', conflict: aMemoryConflict({ id, owner, factIds: [id, `other-${id}`] }) },
      ])
      expect(outcome).toMatchObject({ committed: true })
    }
    const owned = ['runs', 'approvals', 'sessions', 'memory']
    const targets = ['agents:invoke', 'workflows:*']
    const wide = await made.mint(...owned.map((resource) => `${resource}:*`), 'agents:*', 'workflows:*')
    const narrow = await made.mint(
      ...owned.map((resource) => `${resource}:*:own`),
      ...targets.slice(0, 1),
      'workflows:execute',
      'workflows:resume',
      'workflows:delete',
    )
    return { ...made, wide, narrow }
  }

  it.each(ROW_OPERATIONS.map(byId))(
    'shows nothing to a token that sees only its own rows: %s',
    async (_, operation) => {
      const { call, wide, narrow } = await withRows()
      const first = await call(wide.token, operation, 'of-bob')
      const repeated = await call(narrow.token, operation, 'of-bob')

      expect(repeated.isReplayed).toBe(false)
      const again = await call(wide.token, operation, 'of-bob')
      expect(again.isReplayed || first.status >= 400 || operation.privileged === true).toBe(true)
      if (again.isReplayed) expect(repeated).toMatchObject(refused(409, 'idempotency-conflict'))
      else expect(repeated.status).toBeOneOf([404, 409, first.status])
    },
  )

  it.each(ROW_OPERATIONS.map(byId))(
    'replays the answer about an own row to a wider token: %s',
    async (_, operation) => {
      const { call, wide, narrow } = await withRows()
      const first = await call(narrow.token, operation, 'of-alice')
      const again = await call(narrow.token, operation, 'of-alice')

      expect(await call(wide.token, operation, 'of-alice')).toEqual(again)
      if (again.isReplayed) expect(again).toEqual({ ...first, isReplayed: true })
    },
  )
})

describe('the answer to an emitted event', () => {
  it('lists no run or fire of others, also for a repeated key of a wider token', async () => {
    const { app, mint, send } = setUp()
    const wide = await mint('admin:*')
    const narrow = await mint('events:emit:order.paid')
    const own = await mint('events:emit:order.paid', 'triggers:read:paid')
    const trigger = { id: 'paid', kind: 'event', event: 'order.paid', target: { agentId: 'echo' } }
    expect((await app.fetch(post('/triggers', trigger, bearer(wide.token)))).status).toBe(201)

    const first = await send(wide.token, '/events/order.paid', { payload: 1 })
    const repeated = await send(narrow.token, '/events/order.paid', { payload: 1 })
    const unkeyed = await answeredBy(await app.fetch(post('/events/order.paid', {}, bearer(narrow.token))))
    const reader = await answeredBy(await app.fetch(post('/events/order.paid', {}, bearer(own.token))))

    expect(first.body.fireIds).toHaveLength(1)
    expect(repeated).toMatchObject(refused(409, 'idempotency-conflict'))
    expect(unkeyed.body).toEqual({ name: 'order.paid', wokenRunIds: [], fireIds: [] })
    expect(reader.body.fireIds).toHaveLength(1)
  })
})
