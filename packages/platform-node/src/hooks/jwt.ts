import { createHash, timingSafeEqual } from 'node:crypto'
import type { HookVerifier, JwtVerifier } from '@perdure/ports'
import type { HookJwt, JwtClaims } from '@perdure/protocol'
import { missing, refused, utf8 } from './hmac-signature.ts'

const BEARER = /^bearer /i
const CLOCK_TOLERANCE_SECONDS = 60

export interface JwtHookOptions {
  readonly toleranceSeconds?: number | undefined
  readonly secrets: readonly string[]
  readonly verifier: JwtVerifier
}

/** Verifies a JWT in a header of the request, with each of the secrets or with the published keys. */
export function jwt(spec: HookJwt, { toleranceSeconds, secrets, verifier }: JwtHookOptions): HookVerifier {
  const { header: name, issuer, audience, algorithms, jwksUrl, bodyHashClaim } = spec
  const rules = {
    ...{ issuer, audience: [audience], algorithms },
    clockToleranceSeconds: Math.min(toleranceSeconds ?? CLOCK_TOLERANCE_SECONDS, CLOCK_TOLERANCE_SECONDS),
  }
  const keys = jwksUrl === undefined ? secrets.map((secret) => ({ bytes: utf8(secret) })) : [{ url: jwksUrl }]
  const verifications = keys.map((key) => verifier.open(rules, key))

  return {
    headers: [],
    async verify({ header, body, now }) {
      const value = header(name)
      if (value === undefined) return missing(name)
      const verdicts = await Promise.all(verifications.map((verify) => verify(value.replace(BEARER, ''), now)))
      const verified = verdicts.find(({ kind }) => kind === 'verified')
      if (verified?.kind !== 'verified') {
        const unavailable = verdicts.find((verdict) => verdict.kind === 'keys-unavailable')
        if (unavailable !== undefined) return { kind: 'unavailable', reason: unavailable.reason }
        return refused(verdicts.some(({ kind }) => kind === 'expired') ? 'the JWT has expired' : 'the JWT is not valid')
      }
      const { claims } = verified
      if (bodyHashClaim !== undefined && !isHashOf(body, claims[bodyHashClaim])) {
        return refused(`the claim ${bodyHashClaim} is not the SHA-256 of the body`)
      }
      return { kind: 'verified', deliveryId: idOf(claims) }
    },
  }
}

const idOf = ({ jti }: JwtClaims): string | undefined => (typeof jti === 'string' && jti !== '' ? jti : undefined)

function isHashOf(body: Uint8Array, claim: unknown): boolean {
  if (typeof claim !== 'string') return false
  const expected = createHash('sha256').update(body).digest()
  const given = Buffer.from(claim, claim.length === expected.length * 2 ? 'hex' : 'base64')
  return given.length === expected.length && timingSafeEqual(given, expected)
}
