import type { EpochMs, Refusal, TokenRecord } from '@perdure/ports'
import { aToken, BUILT_AT } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { bodyOf, iso, page, setUp } from './token-use-cases.fixture.ts'

describe('TokenUseCases.rotate', () => {
  it('replaces a token with a new token that has the same subject and scopes', async () => {
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

  it('keeps the old token valid until the grace period ends', async () => {
    const { useCases, by, mint, authenticate, clock } = await setUp()
    const old = bodyOf(await mint(by('tok_admin')))

    await useCases.rotate({ principal: by('tok_admin'), tokenId: old.id, graceSeconds: 60 })

    clock.advance(59_999)
    await expect(authenticate(`Bearer ${old.token}`)).resolves.toMatchObject({ tokenId: old.id })
    clock.advance(1)
    await expect(authenticate(`Bearer ${old.token}`)).rejects.toMatchObject({ kind: 'auth-expired' })
  })

  it('moves the children of the old token to the new token', async () => {
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
  ])('rejects the rotation of a token that is %s', async (_, over) => {
    const { useCases, by } = await setUp({ id: 'old', ...over })

    await expect(useCases.rotate({ principal: by('tok_admin'), tokenId: 'old' })).rejects.toMatchObject({
      kind: 'token-not-active',
    })
  })

  it('rotates a token once for many concurrent requests', async () => {
    const { useCases, by, storage } = await setUp({ id: 'old' })

    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () =>
        useCases.rotate({ principal: by('tok_admin'), tokenId: 'old', graceSeconds: 60 }),
      ),
    )

    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await storage.tokens.list(page)).items).toHaveLength(3)
  })

  it('allows any token to rotate itself, but not to extend its expiry', async () => {
    const scopes = ['tokens:revoke:self']
    const { useCases, by } = await setUp({ id: 'self', scopes, expiresAt: (BUILT_AT + 1_000) as EpochMs })
    const rotate = (expiresAt?: string) => useCases.rotate({ principal: by('self'), tokenId: 'self', expiresAt })

    await expect(rotate(iso(1_001))).rejects.toMatchObject({ kind: 'scope-escalation-denied' })
    expect(bodyOf(await rotate())).toMatchObject({ expiresAt: iso(1_000), scopes })
  })

  it('rejects an expiry later than that of the parent, even from an administrator', async () => {
    const { useCases, by } = await setUp(
      { id: 'parent', expiresAt: (BUILT_AT + 1_000) as EpochMs },
      { id: 'child', parentId: 'parent', expiresAt: (BUILT_AT + 500) as EpochMs },
    )
    const rotate = (expiresAt?: string) => useCases.rotate({ principal: by('tok_admin'), tokenId: 'child', expiresAt })

    await expect(rotate(iso(1_001))).rejects.toMatchObject({ kind: 'scope-escalation-denied' })
    expect(bodyOf(await rotate(iso(1_000)))).toMatchObject({ expiresAt: iso(1_000), parentId: 'parent' })
  })

  it('rejects the rotation of a token with another subject or more scopes than the caller', async () => {
    const { useCases, by, storage } = await setUp(
      { id: 'admin', scopes: ['admin:*'] },
      { id: 'narrow', scopes: ['tokens:revoke', 'tokens:read', 'agents:read'] },
      { id: 'foreign', scopes: ['agents:read'], subject: 'bob' },
    )
    for (const tokenId of ['admin', 'foreign']) {
      await expect(useCases.rotate({ principal: by('narrow'), tokenId })).rejects.toMatchObject({
        kind: 'scope-escalation-denied',
      })
    }
    expect((await storage.tokens.list(page)).items).toHaveLength(4)
  })

  it.each<[string, Partial<TokenRecord>]>([
    ['with more scopes', { scopes: ['agents:read', 'audit:export'] }],
    ['of another subject', { scopes: ['agents:read'], subject: 'bob' }],
    ['that is revoked', { scopes: ['audit:export'], revokedAt: BUILT_AT }],
  ])('answers a caller that may not read tokens as if a token %s did not exist', async (_, over) => {
    const { useCases, by, actions } = await setUp(
      { id: 'hidden', ...over },
      { id: 'narrow', scopes: ['tokens:revoke', 'agents:read'] },
    )
    const refusal = (tokenId: string) =>
      useCases
        .rotate({ principal: by('narrow'), tokenId })
        .then(String, ({ code, message, hint }: Refusal) => ({ code, message, hint }))

    expect(await refusal('hidden')).toEqual(await refusal('missing'))
    expect(await refusal('hidden')).toMatchObject({ code: 'token-not-found' })
    expect(await actions()).toEqual([])
  })

  it('does not tell a caller the expiry of a parent that it may not read', async () => {
    const parent = { id: 'parent', scopes: ['agents:read'], expiresAt: (BUILT_AT + 1_000) as EpochMs }
    const { useCases, by } = await setUp(
      parent,
      { id: 'child', parentId: 'parent', scopes: ['agents:read'] },
      { id: 'blind', scopes: ['tokens:revoke', 'agents:read'] },
      { id: 'reader', scopes: ['tokens:revoke', 'tokens:read:parent', 'agents:read'] },
    )
    const refusal = (caller: string) =>
      useCases
        .rotate({ principal: by(caller), tokenId: 'child', expiresAt: iso(1_001) })
        .then(String, ({ message }: Refusal) => message)

    expect(await refusal('blind')).toBe('expiresAt must not be later than the expiry of the parent token')
    expect(await refusal('reader')).toBe(`expiresAt must not be later than ${iso(1_000)}`)
  })
})
