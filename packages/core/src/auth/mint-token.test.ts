import { type EpochMs, perdureError, type UnitOfWork } from '@perdure/ports'
import { BUILT_AT } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createRecall } from '../idempotency/recall.ts'
import { bodyOf, iso, page, sealer, setUp } from './token-use-cases.fixture.ts'
import { createTokenUseCases } from './token-use-cases.ts'

describe('TokenUseCases.mint', () => {
  it("creates a child of the caller's token, returns the token text once, and writes an audit entry", async () => {
    const { mint, by, storage, authenticate, actions } = await setUp()

    const reply = await mint(by('tok_admin'))

    const { token, ...shown } = bodyOf(reply)
    expect(reply).toMatchObject({ status: 201, location: `/v1/tokens/${shown.id}` })
    expect(shown).toMatchObject({ subject: shown.id, parentId: 'tok_admin', createdBy: 'root', createdAt: iso(0) })
    expect(await authenticate(`Bearer ${token}`)).toMatchObject({ tokenId: shown.id, scopes: ['agents:read'] })
    expect(JSON.stringify(await storage.tokens.list(page))).not.toContain(token.slice(14, 34))
    expect(await actions()).toEqual([['tokens.create', shown.id]])
  })

  it('rejects scopes that the caller does not have', async () => {
    const { mint, by, storage } = await setUp({ id: 'narrow', scopes: ['agents:read:echo', 'tokens:create'] })
    const narrow = by('narrow')

    await expect(mint(narrow, { scopes: ['agents:read'] })).rejects.toMatchObject({ kind: 'scope-escalation-denied' })
    await expect(mint(narrow, { scopes: ['admin:*'] })).rejects.toMatchObject({ kind: 'scope-escalation-denied' })
    await expect(mint(narrow, { scopes: ['agents:read:echo'], subject: 'bob' })).rejects.toMatchObject({
      kind: 'scope-escalation-denied',
    })
    expect((await mint(narrow, { scopes: ['agents:read:echo'] })).status).toBe(201)
    expect((await storage.tokens.list(page)).items).toHaveLength(3)
  })

  it('warns of scopes that name an agent or workflow that is not registered', async () => {
    const { mint, by } = await setUp()
    const known = [
      'agents:invoke:echo',
      'agents:invoke',
      'agents:*:*',
      'approvals:read:nope',
      'runs:read:own',
      'admin:*',
    ]
    const unknown = ['agents:invoke:nope', 'agents:*:nope', 'workflows:execute:echo']

    const reply = await mint(by('tok_admin'), { scopes: [...known, ...unknown] })

    expect(reply).toMatchObject({ status: 201, body: { scopes: [...known, ...unknown] } })
    expect(reply.body).toHaveProperty('warnings', [
      'scope agents:invoke:nope: no agent nope is registered',
      'scope agents:*:nope: no agent nope is registered',
      'scope workflows:execute:echo: no workflow echo is registered',
    ])
    expect((await mint(by('tok_admin'), { scopes: known })).body).not.toHaveProperty('warnings')
    await expect(mint(by('tok_admin'), { scopes: ['agents:fly:nope'] })).rejects.toThrow('unknown scope')
  })

  it("rejects an expiry later than that of the caller's token", async () => {
    const { mint, by } = await setUp({ id: 'short', scopes: ['agents:read'], expiresAt: (BUILT_AT + 1_000) as EpochMs })
    const short = by('short')

    await expect(mint(short, { expiresAt: iso(1_001) })).rejects.toMatchObject({ kind: 'scope-escalation-denied' })
    expect(bodyOf(await mint(short, { expiresAt: iso(1_000) }))).toMatchObject({ expiresAt: iso(1_000) })
    expect(bodyOf(await mint(short))).toMatchObject({ expiresAt: iso(1_000) })
    expect(bodyOf(await mint(by('tok_admin'))).expiresAt).toBeUndefined()
  })

  it('rejects a caller whose token was revoked or expired during the request', async () => {
    const { mint, by, clock } = await setUp(
      { id: 'gone', revokedAt: BUILT_AT },
      { id: 'short', expiresAt: (BUILT_AT + 5) as EpochMs },
    )
    clock.advance(5)

    await expect(mint(by('gone'))).rejects.toMatchObject({ kind: 'auth-revoked' })
    await expect(mint(by('short'))).rejects.toMatchObject({ kind: 'auth-expired' })
  })

  it('leaves no active child of a parent that is revoked concurrently', async () => {
    const { mint, by, useCases, storage } = await setUp({ id: 'parent', scopes: ['agents:read'] })
    const revoke = () => useCases.revoke({ tokenId: 'parent', principal: by('tok_admin') })

    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => (n === 7 ? revoke() : mint(by('parent')))),
    )

    expect(results.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0)
    const { items } = await storage.tokens.list(page)
    expect(items.filter(({ parentId, revokedAt }) => parentId === 'parent' && revokedAt === undefined)).toEqual([])
  })

  it('creates one token per key, stores the answer sealed, and replays the answer', async () => {
    const { mint, by, storage, deps } = await setUp()
    const key = { id: 'key-1', fingerprint: 'same', sealed: true } as const

    const first = await mint(by('tok_admin'), { key })
    const replays = await Promise.all([mint(by('tok_admin'), { key }), createRecall({ ...deps, ...storage })(key)])

    const { token } = bodyOf(first)
    for (const reply of replays) {
      expect(reply).toMatchObject({ status: 201, replayed: true, location: first.location })
      expect(JSON.parse(reply?.json ?? '')).toMatchObject({ token })
    }
    expect((await storage.tokens.list(page)).items).toHaveLength(2)
    const record = await storage.idempotency.find('key-1', BUILT_AT)
    expect(record?.response?.sealed).toBe(true)
    expect(JSON.stringify(record)).not.toContain(token.slice(14, 34))
  })

  it('returns the same token to twenty concurrent requests with the same key', async () => {
    const { mint, by } = await setUp()
    const key = { id: 'key-1', fingerprint: 'same', sealed: true } as const

    const replies = await Promise.all(Array.from({ length: 20 }, () => mint(by('tok_admin'), { key })))

    const shown = replies.map(
      ({ json, body }) => (json === undefined ? (body as { token: string }) : JSON.parse(json)).token,
    )
    expect(new Set(shown).size).toBe(1)
  })

  it('creates no token if its answer cannot be sealed', async () => {
    const { deps, by, storage } = await setUp()
    const { sealer: _, ...without } = deps
    const key = { id: 'key-1', fingerprint: 'same', sealed: true } as const
    const mint = createTokenUseCases(without).mint({
      principal: by('tok_admin'),
      name: 'x',
      scopes: ['agents:read'],
      key,
    })

    await expect(mint).rejects.toThrow('sealer')
    expect((await storage.tokens.list(page)).items).toHaveLength(1)
  })

  it('throws idempotency-conflict if the stored answer can no longer be unsealed', async () => {
    const { mint, by, storage, deps } = await setUp()
    const key = { id: 'key-1', fingerprint: 'same', sealed: true } as const
    await mint(by('tok_admin'), { key })
    const withoutPepper = { ...deps, sealer: { ...sealer, open: () => undefined } }

    await expect(createRecall({ ...withoutPepper, ...storage })(key)).rejects.toMatchObject({
      kind: 'idempotency-conflict',
    })
  })

  it.each(['storage-full', 'storage-unavailable', 'SQLITE_BUSY'] as const)(
    'throws audit-unavailable if the commit fails with %s',
    async (id) => {
      const { deps, by } = await setUp()
      const failing: UnitOfWork = { commit: () => Promise.reject(perdureError(id)) }
      const { mint, revoke, rotate } = createTokenUseCases({ ...deps, unitOfWork: failing })
      const principal = by('tok_admin')

      for (const request of [
        mint({ principal, name: 'x', scopes: ['agents:read'] }),
        rotate({ principal, tokenId: 'tok_admin' }),
        revoke({ principal, tokenId: 'tok_admin' }),
      ]) {
        await expect(request).rejects.toMatchObject({ kind: 'audit-unavailable' })
      }
    },
  )

  it('rejects every request if authentication is disabled', async () => {
    const { deps } = await setUp()
    const { mint, self } = createTokenUseCases({ ...deps, peppers: [] })
    const principal = { subject: 'anonymous', scopes: ['admin:*'] }

    await expect(mint({ principal, name: 'x', scopes: ['agents:read'] })).rejects.toMatchObject({
      kind: 'validation-failed',
    })
    await expect(self(principal)).rejects.toMatchObject({ kind: 'token-not-found' })
  })
})
