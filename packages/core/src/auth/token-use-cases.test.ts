import { isRefusal, type Refusal, type TokenRecord } from '@perdure/ports'
import { BUILT_AT } from '@perdure/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { covers } from './attenuation.ts'
import { page, principalOf, setUp } from './token-use-cases.fixture.ts'

describe('TokenUseCases.revoke', () => {
  it('revokes a token and its descendants', async () => {
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

  it('rejects the revocation of an administrator token by a caller without admin:*', async () => {
    const { useCases, by, storage } = await setUp({ id: 'narrow', scopes: ['tokens:revoke', 'tokens:read'] })

    await expect(useCases.revoke({ principal: by('narrow'), tokenId: 'tok_admin' })).rejects.toMatchObject({
      kind: 'scope-escalation-denied',
    })
    expect((await storage.tokens.find('tok_admin'))?.revokedAt).toBeUndefined()
  })

  it('answers a caller that may not read tokens as if an administrator token did not exist', async () => {
    const { useCases, by, storage } = await setUp({ id: 'narrow', scopes: ['tokens:revoke'] })
    const refusal = (tokenId: string) =>
      useCases
        .revoke({ principal: by('narrow'), tokenId })
        .then(String, ({ code, message, hint }: Refusal) => ({ code, message, hint }))

    expect(await refusal('tok_admin')).toEqual(await refusal('missing'))
    expect(await refusal('tok_admin')).toMatchObject({ code: 'token-not-found' })
    expect((await storage.tokens.find('tok_admin'))?.revokedAt).toBeUndefined()
  })

  it('rejects an unknown token without an audit entry', async () => {
    const { useCases, by, actions } = await setUp()

    await expect(useCases.revoke({ principal: by('tok_admin'), tokenId: 'tok_x' })).rejects.toMatchObject({
      kind: 'token-not-found',
    })
    expect(await actions()).toEqual([])
  })
})

describe('TokenUseCases', () => {
  it('returns tokens without their digests', async () => {
    const { useCases, by } = await setUp({ id: 'a' })
    const shown = [await useCases.get('a'), await useCases.self(by('a')), (await useCases.list(page)).items[0]]

    for (const token of shown) expect(token).toMatchObject({ last4: 'x7Qf' })
    expect(JSON.stringify(shown)).not.toContain('digest')
    await expect(useCases.get('tok_x')).rejects.toMatchObject({ kind: 'token-not-found' })
  })
})

describe('token hierarchy', () => {
  const SCOPES = ['agents:read', 'agents:read:echo', 'agents:*', 'sessions:write', 'sessions:write:own', 'admin:*']
  const action = fc.record({
    kind: fc.constantFrom('mint' as const, 'mint' as const, 'mint' as const, 'rotate' as const, 'revoke' as const),
    actor: fc.nat(30),
    target: fc.nat(30),
    scopes: fc.uniqueArray(fc.constantFrom(...SCOPES), { minLength: 1, maxLength: 3 }),
    expiresIn: fc.option(fc.integer({ min: 1, max: 100_000 }), { nil: undefined }),
    graceSeconds: fc.constantFrom(0, 10),
    pauseMs: fc.integer({ min: 0, max: 9_000 }),
  })

  it('never contains a token with more scopes or a later expiry than its parent', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 30 }), async (actions) => {
        const { useCases, storage, clock } = await setUp()
        for (const { kind, actor, target, scopes, expiresIn, graceSeconds, pauseMs } of actions) {
          clock.advance(pauseMs)
          const { items } = await storage.tokens.list(page)
          const token = items[actor % items.length] as TokenRecord
          const tokenId = (items[target % items.length] as TokenRecord).id
          const principal = principalOf(token)
          const isActive =
            token.revokedAt === undefined && !(token.expiresAt !== undefined && token.expiresAt <= clock.now())
          if (!isActive) continue
          const expiresAt = expiresIn === undefined ? undefined : new Date(clock.now() + expiresIn).toISOString()
          const result = {
            mint: () => useCases.mint({ principal, name: 'n', scopes, expiresAt }),
            rotate: () => useCases.rotate({ principal, tokenId, graceSeconds }),
            revoke: () => useCases.revoke({ principal, tokenId }),
          }[kind]()
          await result.catch((error: unknown) => expect(error).toSatisfy(isRefusal))
        }
        const byId = new Map((await storage.tokens.list(page)).items.map((token) => [token.id, token]))
        for (const child of byId.values()) {
          const parent = child.parentId === undefined ? undefined : byId.get(child.parentId)
          if (parent === undefined) continue
          expect(child.scopes.every((scope) => covers(parent.scopes, scope, true))).toBe(true)
          if (parent.revokedAt !== undefined) expect(child.revokedAt).toBeDefined()
          // Rotation moves the children to the new token and then shortens the expiry of the old token.
          if (parent.expiresAt !== undefined && parent.replacedBy === undefined) {
            expect(child.expiresAt ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(parent.expiresAt)
          }
        }
      }),
      { numRuns: 200 },
    )
  })
})
