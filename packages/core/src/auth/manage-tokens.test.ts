import { isWellFormedToken } from '@perdure/protocol'
import { aToken, BUILT_AT } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createManageTokens } from './manage-tokens.ts'
import type { MintToken } from './new-token.ts'
import { createTokens, PEPPER, testDigest } from './tokens.fixture.ts'

const request: MintToken = { name: 'ci', scopes: ['agents:read', 'agents:invoke:echo'] }
const page = { limit: 10, order: 'asc' } as const

describe('ManageTokens.mint', () => {
  it('returns the token text once and stores only its digest', async () => {
    const { manage, storage } = createTokens()

    const { token, record } = await manage.mint(request, 'cli')

    expect(isWellFormedToken(token)).toBe(true)
    expect(token).toMatch(/^perdure_live_v1_/)
    expect(await storage.tokens.find(record.id)).toEqual(record)
    expect(record).toEqual({
      ...{ id: record.id, name: 'ci', env: 'live', scopes: request.scopes, createdBy: 'cli' },
      ...{ subject: record.id, createdAt: BUILT_AT, expiresAt: undefined },
      digest: testDigest.hmacSha256(PEPPER, token),
      last4: token.slice(-4),
    })
    expect(JSON.stringify(record)).not.toContain(token.slice(14, -4))
  })

  it('applies the options of the request', async () => {
    const { manage } = createTokens()

    const minted = await manage.mint({ ...request, subject: 'alice', env: 'test', expiresAt: BUILT_AT + 1 }, 'cli')

    expect(minted.token).toMatch(/^perdure_test_v1_/)
    expect(minted.record).toMatchObject({ subject: 'alice', env: 'test', expiresAt: BUILT_AT + 1 })
  })

  it('never generates the same token twice, and stores each scope once', async () => {
    const { manage } = createTokens()
    const repeated = { ...request, scopes: ['agents:read', 'agents:read'] }

    const minted = await Promise.all(Array.from({ length: 20 }, () => manage.mint(repeated, 'cli')))

    expect(new Set(minted.map(({ token }) => token)).size).toBe(20)
    expect(new Set(minted.map(({ record }) => record.id)).size).toBe(20)
    expect(minted[0]?.record.scopes).toEqual(['agents:read'])
  })

  it.each<[string, Partial<MintToken>]>([
    ['an empty name', { name: '' }],
    ['a name of 129 characters', { name: 'x'.repeat(129) }],
    ['an empty subject', { subject: '' }],
    ['a subject of 129 characters', { subject: 'x'.repeat(129) }],
    ['a subject with a space', { subject: 'a b' }],
    ['no scopes', { scopes: [] }],
    ['65 scopes', { scopes: Array.from({ length: 65 }, (_, n) => `agents:read:a${n}`) }],
    ['an unknown scope', { scopes: ['agents:read', 'agents:fly'] }],
    ['the scope admin in two parts', { scopes: ['admin:metrics'] }],
    ['an expiry now', { expiresAt: BUILT_AT }],
    ['an expiry that is not an integer', { expiresAt: BUILT_AT + 0.5 }],
    ['an expiry that is not a number', { expiresAt: Number.NaN }],
  ])('rejects %s and stores nothing', async (_, over) => {
    const { manage } = createTokens()

    await expect(manage.mint({ ...request, ...over }, 'cli')).rejects.toMatchObject({ kind: 'validation-failed' })
    expect((await manage.list(page)).items).toEqual([])
  })

  it.each<[string, Partial<MintToken>]>([
    ['a name of 128 characters', { name: 'x'.repeat(128) }],
    ['a subject of 128 characters', { subject: 'x'.repeat(128) }],
    ['64 scopes', { scopes: Array.from({ length: 64 }, (_, n) => `agents:read:a${n}`) }],
    ['the scope admin:*', { scopes: ['admin:*'] }],
  ])('accepts %s', async (_, over) => {
    const { manage } = createTokens()

    expect((await manage.mint({ ...request, ...over }, 'cli')).record).toMatchObject(over)
  })

  it('throws internal-error if a generated id already exists', async () => {
    const { storage, shared, manage } = createTokens()
    const { record } = await manage.mint(request, 'cli')
    const stuck = { newId: () => record.id, randomBytes: (length: number) => new Uint8Array(length) }
    const again = createManageTokens({ ...shared, ids: stuck, peppers: [PEPPER] })

    await expect(again.mint(request, 'cli')).rejects.toMatchObject({ kind: 'internal-error' })
    expect((await storage.tokens.list(page)).items).toEqual([record])
  })
})

describe('ManageTokens.list', () => {
  it('pages through all tokens, including revoked ones', async () => {
    const { manage } = createTokens()
    const { record: first } = await manage.mint(request, 'cli')
    const { record: second } = await manage.mint(request, 'cli')
    await manage.revoke(first.id, 'cli')

    const start = await manage.list({ ...page, limit: 1 })
    const rest = await manage.list({ ...page, cursor: start.nextCursor ?? undefined })

    expect([...start.items, ...rest.items].map(({ id }) => id)).toEqual([first.id, second.id])
    expect(rest.nextCursor).toBeNull()
  })
})

describe('ManageTokens.revoke', () => {
  it('keeps the time of the first revocation when a token is revoked again', async () => {
    const { manage, clock } = createTokens()
    const { record } = await manage.mint(request, 'cli')

    clock.advance(5)
    expect((await manage.revoke(record.id, 'cli')).revokedAt).toBe(BUILT_AT + 5)
    clock.advance(5)
    expect((await manage.revoke(record.id, 'cli')).revokedAt).toBe(BUILT_AT + 5)
  })

  it('rejects an unknown token and changes no other token', async () => {
    const { manage, storage } = createTokens()
    await storage.unitOfWork.commit([{ type: 'token.insert', token: aToken() }])

    await expect(manage.revoke('tok_unknown', 'cli')).rejects.toMatchObject({ kind: 'token-not-found' })
    expect((await storage.tokens.find(aToken().id))?.revokedAt).toBeUndefined()
  })
})

describe('ManageTokens', () => {
  it('writes an audit entry for each created or revoked token, and none for a failed revocation', async () => {
    const { manage, storage } = createTokens()
    const { record } = await manage.mint(request, 'cli')
    await manage.revoke(record.id, 'cli')
    await expect(manage.revoke('tok_unknown', 'cli')).rejects.toThrow()

    const entries = await storage.audit.read({ afterSeq: 0, limit: 9 })

    const actor = { kind: 'system', subject: 'cli' }
    expect(entries).toMatchObject([
      { actor, action: 'tokens.create', target: record.id, decision: 'allowed' },
      { actor, action: 'tokens.revoke', target: record.id, decision: 'allowed' },
    ])
    expect(entries).toHaveLength(2)
  })
})
