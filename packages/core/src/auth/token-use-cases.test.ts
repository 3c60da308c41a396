import { AppError, type EpochMs, type Sealer, type TokenRecord, type UnitOfWork } from '@berth/ports'
import { aToken, BUILT_AT, createSequenceIds } from '@berth/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRecall } from '../idempotency/recall.ts'
import type { Reply } from '../reply.ts'
import { covers } from './attenuation.ts'
import { createAuthenticate } from './authenticate.ts'
import type { Principal } from './principal.ts'
import { createTokenUseCases, type TokenUseCases } from './token-use-cases.ts'
import { createTokens, PEPPER } from './tokens.fixture.ts'

const ADMIN = aToken({ id: 'tok_admin', subject: 'root', scopes: ['admin:*'] })
const iso = (ms: number) => new Date(BUILT_AT + ms).toISOString()
const principalOf = ({ id, subject, scopes }: TokenRecord): Principal => ({ subject, tokenId: id, scopes })
const page = { limit: 200, order: 'asc' } as const

const sealer: Sealer = {
  seal: (text, context) => Buffer.from(JSON.stringify([context, text])).toString('base64'),
  open(sealed, context) {
    const [sealedFor, text] = JSON.parse(Buffer.from(sealed, 'base64').toString())
    return sealedFor === context ? text : undefined
  },
}

async function setUp(...tokens: readonly Partial<TokenRecord>[]) {
  const { storage, clock, shared } = createTokens()
  const records = [ADMIN, ...tokens.map((over) => aToken(over))]
  for (const token of records) await storage.unitOfWork.commit([{ type: 'token.insert', token }])
  const deps = {
    ...shared,
    ids: createSequenceIds(),
    peppers: [PEPPER],
    basePath: '/v1',
    idempotencyTtlMs: 60_000,
    sealer,
  }
  const useCases = createTokenUseCases(deps)
  const ignore = () => undefined
  const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
  const authenticate = createAuthenticate({ ...shared, logger, peppers: [PEPPER] })
  const by = (id: string) => principalOf(records.find((token) => token.id === id) ?? ADMIN)
  const mint = (principal: Principal, over: Partial<Parameters<TokenUseCases['mint']>[0]> = {}) =>
    useCases.mint({ principal, name: 'child', scopes: ['agents:read'], ...over })
  const actions = async () =>
    (await storage.audit.read({ afterSeq: 0, limit: 100 })).map(({ action, target }) => [action, target])
  return { storage, clock, deps, useCases, authenticate, by, mint, actions }
}

const bodyOf = (reply: Reply) => reply.body as TokenRecord & { readonly token: string }

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

describe('rotate', () => {
  it('replaces a token by one that may do the same for the same subject', async () => {
    const { useCases, by, storage, actions, authenticate } = await setUp({ id: 'old', name: 'ci', env: 'live' })

    const reply = await useCases.rotate({ principal: by('tok_admin'), tokenId: 'old' })

    const { token, id } = bodyOf(reply)
    const old = await storage.tokens.find('old')
    expect(reply).toMatchObject({ status: 201, location: `/v1/tokens/${id}` })
    expect(bodyOf(reply)).toMatchObject({ name: 'ci', subject: 'alice', scopes: aToken().scopes, env: 'live' })
    expect(old).toMatchObject({ revokedAt: BUILT_AT, replacedBy: id })
    expect(await authenticate(`Bearer ${token}`)).toMatchObject({ subject: 'alice', tokenId: id })
    expect(await actions()).toEqual([['tokens.rotate', 'old']])
  })

  it('keeps the old one valid for the grace, and not longer', async () => {
    const { useCases, by, mint, authenticate, clock } = await setUp()
    const old = bodyOf(await mint(by('tok_admin')))

    await useCases.rotate({ principal: by('tok_admin'), tokenId: old.id, graceSeconds: 60 })

    clock.advance(59_999)
    await expect(authenticate(`Bearer ${old.token}`)).resolves.toMatchObject({ tokenId: old.id })
    clock.advance(1)
    await expect(authenticate(`Bearer ${old.token}`)).rejects.toMatchObject({ kind: 'auth-expired' })
  })

  it('takes what the old one has minted along', async () => {
    const { useCases, by, storage } = await setUp({ id: 'old' }, { id: 'child', parentId: 'old' })
    const { id } = bodyOf(await useCases.rotate({ principal: by('tok_admin'), tokenId: 'old' }))

    expect(await storage.tokens.find('child')).toMatchObject({ parentId: id })
    expect((await storage.tokens.find('child'))?.revokedAt).toBeUndefined()
    await useCases.revoke({ principal: by('tok_admin'), tokenId: id })
    expect((await storage.tokens.find('child'))?.revokedAt).toBe(BUILT_AT)
  })

  it.each<[string, Partial<TokenRecord>]>([
    ['revoked', { revokedAt: BUILT_AT }],
    ['expired', { expiresAt: BUILT_AT }],
    ['replaced', { replacedBy: 'another' }],
  ])('refuses a token that is %s', async (_, over) => {
    const { useCases, by } = await setUp({ id: 'old', ...over })

    await expect(useCases.rotate({ principal: by('tok_admin'), tokenId: 'old' })).rejects.toMatchObject({
      kind: 'token-not-active',
    })
  })

  it('lets one of many at once win', async () => {
    const { useCases, by, storage } = await setUp({ id: 'old' })

    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () =>
        useCases.rotate({ principal: by('tok_admin'), tokenId: 'old', graceSeconds: 60 }),
      ),
    )

    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await storage.tokens.list(page)).items).toHaveLength(3)
  })

  it('lets a token rotate itself whatever it may do, but never live longer', async () => {
    const scopes = ['tokens:revoke:self']
    const { useCases, by } = await setUp({ id: 'self', scopes, expiresAt: (BUILT_AT + 1_000) as EpochMs })
    const rotate = (expiresAt?: string) => useCases.rotate({ principal: by('self'), tokenId: 'self', expiresAt })

    await expect(rotate(iso(1_001))).rejects.toMatchObject({ kind: 'scope-escalation-denied' })
    expect(bodyOf(await rotate())).toMatchObject({ expiresAt: iso(1_000), scopes })
  })

  it('lets nothing outlive the token that it descends from, whoever rotates it', async () => {
    const { useCases, by } = await setUp(
      { id: 'parent', expiresAt: (BUILT_AT + 1_000) as EpochMs },
      { id: 'child', parentId: 'parent', expiresAt: (BUILT_AT + 500) as EpochMs },
    )
    const rotate = (expiresAt?: string) => useCases.rotate({ principal: by('tok_admin'), tokenId: 'child', expiresAt })

    await expect(rotate(iso(1_001))).rejects.toMatchObject({ kind: 'scope-escalation-denied' })
    expect(bodyOf(await rotate(iso(1_000)))).toMatchObject({ expiresAt: iso(1_000), parentId: 'parent' })
  })

  it('gives nobody a token that may do more than theirs', async () => {
    const { useCases, by, storage } = await setUp(
      { id: 'mighty', scopes: ['admin:*'] },
      { id: 'narrow', scopes: ['tokens:revoke', 'agents:read'] },
      { id: 'foreign', scopes: ['agents:read'], subject: 'bob' },
    )
    for (const tokenId of ['mighty', 'foreign']) {
      await expect(useCases.rotate({ principal: by('narrow'), tokenId })).rejects.toMatchObject({
        kind: 'scope-escalation-denied',
      })
    }
    expect((await storage.tokens.list(page)).items).toHaveLength(4)
  })
})

describe('revoke', () => {
  it('revokes a token and all that descend from it', async () => {
    const { useCases, by, storage, actions } = await setUp(
      { id: 'a' },
      { id: 'b', parentId: 'a' },
      { id: 'c', parentId: 'b' },
    )

    const reply = await useCases.revoke({ principal: by('tok_admin'), tokenId: 'a' })

    expect(reply).toEqual({ status: 204 })
    for (const id of ['a', 'b', 'c']) expect((await storage.tokens.find(id))?.revokedAt).toBe(BUILT_AT)
    expect((await storage.tokens.find('tok_admin'))?.revokedAt).toBeUndefined()
    expect(await actions()).toEqual([['tokens.revoke', 'a']])
  })

  it('lets no lesser token revoke an administrator', async () => {
    const { useCases, by, storage } = await setUp({ id: 'narrow', scopes: ['tokens:revoke'] })

    await expect(useCases.revoke({ principal: by('narrow'), tokenId: 'tok_admin' })).rejects.toMatchObject({
      kind: 'scope-escalation-denied',
    })
    expect((await storage.tokens.find('tok_admin'))?.revokedAt).toBeUndefined()
  })

  it('knows no other tokens', async () => {
    const { useCases, by, actions } = await setUp()

    await expect(useCases.revoke({ principal: by('tok_admin'), tokenId: 'tok_x' })).rejects.toMatchObject({
      kind: 'token-not-found',
    })
    expect(await actions()).toEqual([])
  })
})

describe('reading', () => {
  it('shows tokens without what proves them', async () => {
    const { useCases, by } = await setUp({ id: 'a' })
    const shown = [await useCases.get('a'), await useCases.self(by('a')), (await useCases.list(page)).items[0]]

    for (const token of shown) expect(token).toMatchObject({ last4: 'x7Qf' })
    expect(JSON.stringify(shown)).not.toContain('digest')
    await expect(useCases.get('tok_x')).rejects.toMatchObject({ kind: 'token-not-found' })
  })
})

describe('a tree of tokens', () => {
  const SCOPES = ['agents:read', 'agents:read:echo', 'agents:*', 'sessions:write', 'sessions:write:own', 'admin:*']
  const deed = fc.record({
    kind: fc.constantFrom('mint' as const, 'mint' as const, 'mint' as const, 'rotate' as const, 'revoke' as const),
    actor: fc.nat(30),
    target: fc.nat(30),
    scopes: fc.uniqueArray(fc.constantFrom(...SCOPES), { minLength: 1, maxLength: 3 }),
    expiresIn: fc.option(fc.integer({ min: 1, max: 100_000 }), { nil: undefined }),
    graceSeconds: fc.constantFrom(0, 10),
    pauseMs: fc.integer({ min: 0, max: 9_000 }),
  })

  it('never lets a token do more, or live longer, than the one it descends from', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { maxLength: 30 }), async (deeds) => {
        const { useCases, storage, clock } = await setUp()
        for (const { kind, actor, target, scopes, expiresIn, graceSeconds, pauseMs } of deeds) {
          clock.advance(pauseMs)
          const { items } = await storage.tokens.list(page)
          const token = items[actor % items.length] as TokenRecord
          const tokenId = (items[target % items.length] as TokenRecord).id
          const principal = principalOf(token)
          const isAlive =
            token.revokedAt === undefined && !(token.expiresAt !== undefined && token.expiresAt <= clock.now())
          if (!isAlive) continue
          const expiresAt = expiresIn === undefined ? undefined : new Date(clock.now() + expiresIn).toISOString()
          const done = {
            mint: () => useCases.mint({ principal, name: 'n', scopes, expiresAt }),
            rotate: () => useCases.rotate({ principal, tokenId, graceSeconds }),
            revoke: () => useCases.revoke({ principal, tokenId }),
          }[kind]()
          await done.catch((error: unknown) => expect(error).toBeInstanceOf(AppError))
        }
        const byId = new Map((await storage.tokens.list(page)).items.map((token) => [token.id, token]))
        for (const child of byId.values()) {
          const parent = child.parentId === undefined ? undefined : byId.get(child.parentId)
          if (parent === undefined) continue
          expect(child.scopes.every((scope) => covers(parent.scopes, scope, true))).toBe(true)
          if (parent.revokedAt !== undefined) expect(child.revokedAt).toBeDefined()
          // A parent in its grace ends early; its children were handed on before that.
          if (parent.expiresAt !== undefined && parent.replacedBy === undefined) {
            expect(child.expiresAt ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(parent.expiresAt)
          }
        }
      }),
      { numRuns: 200 },
    )
  })
})
