import { createInMemoryStorage } from '@perdure/in-memory'
import type { JwtVerdict, Logger } from '@perdure/ports'
import { BUILT_AT, createManualClock } from '@perdure/testkit'
import { createAuthenticateJwt, type JwtIssuer } from './authenticate-jwt.ts'
import { testDigest } from './tokens.fixture.ts'

const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

export const NOW_SECONDS = BUILT_AT / 1_000
export const CLAIMS = { iss: 'https://a.test', aud: 'perdure', sub: 'alice', iat: NOW_SECONDS, exp: NOW_SECONDS + 300 }

/** A JWT without a valid signature. A text is encoded as it is. */
export const unsigned = (claims: object | string = CLAIMS, header: object | string = { alg: 'EdDSA' }): string =>
  `${encode(header)}.${encode(claims)}.c2ln`

export const anIssuer = (over: Partial<JwtIssuer> = {}): JwtIssuer => ({
  ...{ id: 'a', issuer: 'https://a.test', algorithms: ['EdDSA'], clockToleranceSeconds: 5 },
  ...{ subject: 'sub', scopes: ['agents:read'], claims: [] },
  verify: async (jwt) => ({
    kind: 'verified',
    claims: JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()),
  }),
  ...over,
})

/** Authentication with issuers whose verifier believes every signature, unless a test replaces it. */
export function setUpJwt(...issuers: readonly Partial<JwtIssuer>[]) {
  const clock = createManualClock(BUILT_AT)
  const { subjectRevocations, unitOfWork } = createInMemoryStorage()
  const errors: unknown[] = []
  const ignore = () => undefined
  const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: (...args) => void errors.push(args) }
  let verifications = 0
  const counted = (issuer: JwtIssuer): JwtIssuer => ({
    ...issuer,
    verify(jwt, now): Promise<JwtVerdict> {
      verifications += 1
      return issuer.verify(jwt, now)
    },
  })
  const given = issuers.length === 0 ? [{}] : issuers
  const authenticate = createAuthenticateJwt({
    issuers: given.map((over) => counted(anIssuer(over))),
    ...{ clock, logger, digest: testDigest, subjectRevocations },
  })
  return { authenticate, clock, errors, unitOfWork, verifications: () => verifications }
}
