import {
  isRefusal,
  type RequestOrigin,
  type SignInCheck,
  type SignInProvider,
  type SignInVerdict,
} from '@perdure/ports'
import { createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { NO_ATTEMPT_LIMIT } from '../auth/lockout.ts'
import { createTokens, PEPPER } from '../auth/tokens.fixture.ts'
import { createProviderSignIn } from './provider-sign-in.ts'

const ORIGIN: RequestOrigin = { requestId: 'r', method: 'GET', route: '/console/callback', ip: '10.0.0.1' }
const ignore = () => undefined
const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

/** A provider that answers `verdict`, and what it was asked with. */
function setUp(verdictAt: (now: number) => SignInVerdict | Promise<SignInVerdict> = identified()) {
  const { storage, clock, shared } = createTokens()
  const checks: SignInCheck[] = []
  const provider: SignInProvider = {
    async begin(check) {
      checks.push(check)
      return { kind: 'started', url: `https://login.test/?state=${check.state}` }
    },
    async finish(_, check) {
      checks.push(check)
      return verdictAt(clock.now())
    },
    endSessionUrl: async () => undefined,
  }
  const signIn = createProviderSignIn({
    ...shared,
    ...{ ids: createSequenceIds(), peppers: [PEPPER], logger, attempts: NO_ATTEMPT_LIMIT },
    subjectRevocations: storage.subjectRevocations,
    provider,
    rules: {
      id: 'sso',
      claim: 'roles',
      roles: { ops: ['runs:read'], all: ['runs:read', 'audit:read'] },
      sessionSeconds: 60,
    },
  })
  const begin = async () => {
    const { url, secret } = await signIn.begin('10.0.0.1')
    return { secret, state: new URL(url).searchParams.get('state') ?? '' }
  }
  const finish = ({ secret, state }: { readonly secret: string; readonly state: string }) =>
    signIn.finish({ query: new URLSearchParams({ state }), secret, clientAddress: '10.0.0.1', origin: ORIGIN })
  return { storage, clock, checks, signIn, begin, finish }
}

const identified =
  (roles: unknown = ['ops'], name = 'alice') =>
  (now: number): SignInVerdict => ({ kind: 'identified', name, issuedAt: now, claims: { roles } })

const codeOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'done',
    (error: unknown) => (isRefusal(error) ? error.code : error),
  )

describe('createProviderSignIn', () => {
  it('derives what it sends to the provider from the secret, and reveals none of it with another part', async () => {
    const { begin, finish, checks } = setUp()

    const attempt = await begin()
    await finish(attempt)

    const [begun, finished] = checks
    expect(finished).toEqual(begun)
    const parts = [begun?.state, begun?.nonce, begun?.codeVerifier, attempt.secret]
    expect(new Set(parts).size).toBe(4)
    const another = await begin()
    expect(another.state).not.toBe(attempt.state)
  })

  it('is open for ten minutes', async () => {
    const { begin, finish, clock } = setUp()
    const [first, second] = [await begin(), await begin()]

    clock.advance(600_000)
    expect(await codeOf(finish(first))).toBe('done')
    clock.advance(1)
    expect(await codeOf(finish(second))).toBe('auth-invalid')
  })

  it('grants the scopes of all roles of the user, each once', async () => {
    const { begin, finish } = setUp(identified('ops other all'))

    expect((await finish(await begin())).session).toMatchObject({
      subject: 'oidc:sso:alice',
      scopes: ['runs:read', 'audit:read'],
    })
  })

  it.each([['toString'], [['__proto__']], [[['ops']]], [{ 0: 'ops' }], [1], [null]])(
    'grants nothing for the claim %j',
    async (claim) => {
      const { begin, finish, storage } = setUp(identified(claim))

      expect(await codeOf(finish(await begin()))).toBe('scope-denied')
      expect((await storage.tokens.list({ limit: 1, order: 'asc', cursor: undefined })).items).toEqual([])
    },
  )

  it.each([[''], ['a b'], ['ü'], ['x'.repeat(200)]])('refuses a user with the name %j', async (name) => {
    const { begin, finish } = setUp(identified(['ops'], name))

    expect(await codeOf(finish(await begin()))).toBe('auth-invalid')
  })

  it('lets 32 sign-ins wait for the provider, and refuses more until one ends', async () => {
    const { promise, resolve } = Promise.withResolvers<SignInVerdict>()
    const { begin, finish, signIn } = setUp(() => promise)
    const attempts = await Promise.all(Array.from({ length: 32 }, begin))
    const waiting = attempts.map((attempt) => codeOf(finish(attempt)))

    expect(await codeOf(signIn.begin('10.0.0.1'))).toBe('sign-in-unavailable')
    resolve({ kind: 'refused', reason: 'no' })
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['auth-invalid']))
    expect(await codeOf(signIn.begin('10.0.0.1'))).toBe('done')
  })
})
