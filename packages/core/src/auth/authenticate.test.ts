import type { EpochMs, Logger, UnitOfWork } from '@perdure/ports'
import { formatToken } from '@perdure/protocol'
import { BUILT_AT } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { type AuthenticateDeps, authenticateAnyone, createAuthenticate } from './authenticate.ts'
import type { MintToken } from './new-token.ts'
import { createTokens, PEPPER, testDigest } from './tokens.fixture.ts'

const OTHER_PEPPER = new TextEncoder().encode('q'.repeat(32))
const UNKNOWN = formatToken('live', new Uint8Array(32))
const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

async function setUp(mint: Partial<MintToken> = {}, over: Partial<AuthenticateDeps> = {}) {
  const { shared, manage, ...rest } = createTokens()
  const { token, record } = await manage.mint({ name: 'ci', scopes: ['agents:read'], ...mint }, 'cli')
  const authenticate = createAuthenticate({ ...shared, logger, peppers: [PEPPER], ...over })
  const lastUsed = async () => (await shared.tokens.find(record.id))?.lastUsedAt
  return { ...rest, shared, manage, token, record, authenticate, lastUsed }
}

describe('createAuthenticate', () => {
  it('turns a token into its principal', async () => {
    const { authenticate, token, record } = await setUp({ subject: 'alice' })

    const principal = { subject: 'alice', tokenId: record.id, scopes: ['agents:read'] }
    expect(await authenticate(`Bearer ${token}`)).toEqual(principal)
    expect(await authenticate(`bearer ${token}`)).toEqual(principal)
  })

  it('rejects a request without a token with auth-required', async () => {
    const { authenticate } = await setUp()

    await expect(authenticate(undefined)).rejects.toMatchObject({ kind: 'auth-required' })
  })

  it('rejects malformed credentials without reading the storage', async () => {
    const { authenticate, token } = await setUp(
      {},
      {
        tokens: {
          findByDigest: () => Promise.reject(new Error('unexpected read')),
        } as unknown as AuthenticateDeps['tokens'],
      },
    )
    const broken = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`

    for (const header of ['', token, `Basic ${token}`, 'Bearer ', `Bearer  ${token}`, `Bearer ${token} `, 'Bearer x']) {
      await expect(authenticate(header), header).rejects.toMatchObject({ kind: 'auth-invalid' })
    }
    await expect(authenticate(`Bearer ${broken}`)).rejects.toMatchObject({ kind: 'auth-invalid' })
    await expect(authenticate(`Bearer ${'x'.repeat(300)}`)).rejects.toMatchObject({ kind: 'auth-invalid' })
  })

  it.each(['jwt:app:alice', 'oidc:sso:alice', 'chat:slack:U1'])(
    'rejects a token of an earlier release with the subject %s',
    async (subject) => {
      const { token, record } = await setUp()
      const { storage } = createTokens()
      await storage.unitOfWork.commit([{ type: 'token.insert', token: { ...record, subject } }])
      const { authenticate } = await setUp({}, { tokens: storage.tokens })

      await expect(authenticate(`Bearer ${token}`)).rejects.toMatchObject({ kind: 'auth-invalid' })
    },
  )

  it('rejects a well-formed token that does not exist', async () => {
    const { authenticate } = await setUp()

    await expect(authenticate(`Bearer ${UNKNOWN}`)).rejects.toMatchObject({ kind: 'auth-invalid' })
  })

  it('rejects a token at the moment it expires', async () => {
    const { authenticate, token, clock } = await setUp({ expiresAt: BUILT_AT + 1_000 })

    clock.advance(999)
    await expect(authenticate(`Bearer ${token}`)).resolves.toBeDefined()
    clock.advance(1)
    await expect(authenticate(`Bearer ${token}`)).rejects.toMatchObject({ kind: 'auth-expired' })
  })

  it('rejects a revoked token immediately, whether or not it has also expired', async () => {
    const { authenticate, token, manage, record, clock } = await setUp({ expiresAt: BUILT_AT + 1_000 })

    await manage.revoke(record.id, 'cli')
    await expect(authenticate(`Bearer ${token}`)).rejects.toMatchObject({ kind: 'auth-revoked' })
    clock.advance(1_000)
    await expect(authenticate(`Bearer ${token}`)).rejects.toMatchObject({ kind: 'auth-revoked' })
  })

  it('accepts tokens of an earlier pepper while that pepper is configured', async () => {
    const rotated = await setUp({}, { peppers: [OTHER_PEPPER, PEPPER] })
    const dropped = await setUp({}, { peppers: [OTHER_PEPPER] })

    await expect(rotated.authenticate(`Bearer ${rotated.token}`)).resolves.toBeDefined()
    await expect(dropped.authenticate(`Bearer ${dropped.token}`)).rejects.toMatchObject({ kind: 'auth-invalid' })
  })

  it('rehashes a token of an earlier pepper at its first use', async () => {
    const { authenticate, token, record, storage, shared } = await setUp({}, { peppers: [OTHER_PEPPER, PEPPER] })

    await Promise.all(Array.from({ length: 50 }, () => authenticate(`Bearer ${token}`)))
    await new Promise((resolve) => setImmediate(resolve))

    expect((await storage.tokens.find(record.id))?.digest).toBe(testDigest.hmacSha256(OTHER_PEPPER, token))
    const alone = createAuthenticate({ ...shared, logger, peppers: [OTHER_PEPPER] })
    await expect(alone(`Bearer ${token}`)).resolves.toMatchObject({ tokenId: record.id })
  })

  it('finds a token that is rehashed between two lookups', async () => {
    const { token, record, storage, shared } = await setUp()
    const [from, to] = [PEPPER, OTHER_PEPPER].map((pepper) => testDigest.hmacSha256(pepper, token)) as [string, string]
    const tokens = {
      ...storage.tokens,
      async findByDigest(digest: string) {
        const found = await storage.tokens.findByDigest(digest)
        if (digest === to) await storage.unitOfWork.commit([{ type: 'token.rehash', id: record.id, from, to }])
        return found
      },
    }
    const authenticate = createAuthenticate({ ...shared, tokens, logger, peppers: [OTHER_PEPPER, PEPPER] })

    await expect(authenticate(`Bearer ${token}`)).resolves.toMatchObject({ tokenId: record.id })
  })

  it('records the use of a token once for a hundred concurrent requests', async () => {
    const { shared, token } = await setUp()
    let touches = 0
    const unitOfWork: UnitOfWork = {
      async commit(writes) {
        touches += writes.filter(({ type }) => type === 'token.touch').length
        return shared.unitOfWork.commit(writes)
      },
    }
    const authenticate = createAuthenticate({ ...shared, unitOfWork, logger, peppers: [PEPPER] })

    await Promise.all(Array.from({ length: 100 }, () => authenticate(`Bearer ${token}`)))

    expect(touches).toBe(1)
  })

  it('rejects a token if the storage returns a record with a different digest', async () => {
    const { shared, manage } = createTokens()
    const { token, record } = await manage.mint({ name: 'ci', scopes: ['agents:read'] }, 'cli')
    const tokens = { ...shared.tokens, findByDigest: async () => ({ ...record, digest: 'another' }) }
    const authenticate = createAuthenticate({ ...shared, tokens, logger, peppers: [PEPPER] })

    await expect(authenticate(`Bearer ${token}`)).rejects.toMatchObject({ kind: 'auth-invalid' })
  })

  it('records the use of a token at most once a minute', async () => {
    const { authenticate, token, clock, lastUsed } = await setUp()
    const used: (EpochMs | undefined)[] = []

    for (const pauseMs of [0, 59_999, 1]) {
      clock.advance(pauseMs)
      await authenticate(`Bearer ${token}`)
      used.push(await lastUsed())
    }

    expect(used).toEqual([BUILT_AT, BUILT_AT, BUILT_AT + 60_000])
  })

  it('does not record the use of a rejected token', async () => {
    const { authenticate, token, manage, record, lastUsed } = await setUp()
    await manage.revoke(record.id, 'cli')

    await expect(authenticate(`Bearer ${token}`)).rejects.toThrow()

    expect(await lastUsed()).toBeUndefined()
  })

  it('accepts a token whose use cannot be recorded, and logs the error', async () => {
    const lines: unknown[] = []
    const { authenticate, token, record } = await setUp(
      {},
      {
        unitOfWork: { commit: () => Promise.reject(new Error('disk')) },
        logger: { ...logger, error: (...line) => lines.push(line) },
      },
    )

    await expect(authenticate(`Bearer ${token}`)).resolves.toBeDefined()
    await Promise.resolve()

    expect(lines).toEqual([['cannot record the use of a token', new Error('disk'), { tokenId: record.id }]])
  })
})

describe('authenticateAnyone', () => {
  it('treats every client as an administrator', async () => {
    expect(await authenticateAnyone(undefined, 'a')).toEqual({ subject: 'anonymous', scopes: ['admin:*'] })
  })
})
