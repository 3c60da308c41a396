import { AppError, type EpochMs, type UnitOfWork } from '@perdure/ports'
import { BUILT_AT } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createRecall } from '../idempotency/recall.ts'
import { bodyOf, iso, page, sealer, setUp } from './token-use-cases.fixture.ts'
import { createTokenUseCases } from './token-use-cases.ts'

describe('mint', () => {
  it('makes a token that descends from the caller, shown once, and a link of the audit chain', async () => {
    const { mint, by, storage, authenticate, actions } = await setUp()

    const reply = await mint(by('tok_admin'))

    const { token, ...shown } = bodyOf(reply)
    expect(reply).toMatchObject({ status: 201, location: `/v1/tokens/${shown.id}` })
    expect(shown).toMatchObject({ subject: shown.id, parentId: 'tok_admin', createdBy: 'root', createdAt: iso(0) })
    expect(await authenticate(`Bearer ${token}`)).toMatchObject({ tokenId: shown.id, scopes: ['agents:read'] })
    expect(JSON.stringify(await storage.tokens.list(page))).not.toContain(token.slice(14, 34))
    expect(await actions()).toEqual([['tokens.create', shown.id]])
  })

  it('gives away nothing that the caller does not have', async () => {
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

  it('lets no token outlive the one that made it', async () => {
    const { mint, by } = await setUp({ id: 'short', scopes: ['agents:read'], expiresAt: (BUILT_AT + 1_000) as EpochMs })
    const short = by('short')

    await expect(mint(short, { expiresAt: iso(1_001) })).rejects.toMatchObject({ kind: 'scope-escalation-denied' })
    expect(bodyOf(await mint(short, { expiresAt: iso(1_000) }))).toMatchObject({ expiresAt: iso(1_000) })
    expect(bodyOf(await mint(short))).toMatchObject({ expiresAt: iso(1_000) })
    expect(bodyOf(await mint(by('tok_admin'))).expiresAt).toBeUndefined()
  })

  it('is refused to a token that was lost while the request was on its way', async () => {
    const { mint, by, clock } = await setUp(
      { id: 'gone', revokedAt: BUILT_AT },
      { id: 'short', expiresAt: (BUILT_AT + 5) as EpochMs },
    )
    clock.advance(5)

    await expect(mint(by('gone'))).rejects.toMatchObject({ kind: 'auth-revoked' })
    await expect(mint(by('short'))).rejects.toMatchObject({ kind: 'auth-expired' })
  })

  it('never leaves a living child of a parent that is revoked at the same time', async () => {
    const { mint, by, useCases, storage } = await setUp({ id: 'parent', scopes: ['agents:read'] })
    const revoke = () => useCases.revoke({ tokenId: 'parent', principal: by('tok_admin') })

    const made = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => (n === 7 ? revoke() : mint(by('parent')))),
    )

    expect(made.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0)
    const { items } = await storage.tokens.list(page)
    expect(items.filter(({ parentId, revokedAt }) => parentId === 'parent' && revokedAt === undefined)).toEqual([])
  })

  it('makes one token under a key, remembers it sealed, and gives the same one again', async () => {
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

  it('shows one token to twenty who come with one key at once', async () => {
    const { mint, by } = await setUp()
    const key = { id: 'key-1', fingerprint: 'same', sealed: true } as const

    const replies = await Promise.all(Array.from({ length: 20 }, () => mint(by('tok_admin'), { key })))

    const shown = replies.map(
      ({ json, body }) => (json === undefined ? (body as { token: string }) : JSON.parse(json)).token,
    )
    expect(new Set(shown).size).toBe(1)
  })

  it('stores no secret unsealed, and nothing at all then', async () => {
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

  it('says that a sealed answer cannot be read any more, and mints nothing', async () => {
    const { mint, by, storage, deps } = await setUp()
    const key = { id: 'key-1', fingerprint: 'same', sealed: true } as const
    await mint(by('tok_admin'), { key })
    const forgetful = { ...deps, sealer: { ...sealer, open: () => undefined } }

    await expect(createRecall({ ...forgetful, ...storage })(key)).rejects.toMatchObject({
      kind: 'idempotency-conflict',
    })
  })

  it.each(['storage-full', 'SQLITE_BUSY'] as const)('does nothing when the audit chain answers %s', async (id) => {
    const { deps, by } = await setUp()
    const failing: UnitOfWork = { commit: () => Promise.reject(new AppError(id)) }
    const { mint, revoke, rotate } = createTokenUseCases({ ...deps, unitOfWork: failing })
    const principal = by('tok_admin')

    for (const deed of [
      mint({ principal, name: 'x', scopes: ['agents:read'] }),
      rotate({ principal, tokenId: 'tok_admin' }),
      revoke({ principal, tokenId: 'tok_admin' }),
    ]) {
      await expect(deed).rejects.toMatchObject({ kind: 'audit-unavailable' })
    }
  })

  it('has nothing to mint without authentication', async () => {
    const { deps } = await setUp()
    const { mint, self } = createTokenUseCases({ ...deps, peppers: [] })
    const principal = { subject: 'anonymous', scopes: ['admin:*'] }

    await expect(mint({ principal, name: 'x', scopes: ['agents:read'] })).rejects.toMatchObject({
      kind: 'validation-failed',
    })
    await expect(self(principal)).rejects.toMatchObject({ kind: 'token-not-found' })
  })
})
