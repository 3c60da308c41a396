import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { JwtRules } from '@perdure/ports'
import { type ForgedJwt, forgeJwt } from '@perdure/testkit'

export const ISSUER = 'https://issuer.test'
export const AUDIENCE = 'perdure'
export const NOW = Date.UTC(2026, 0, 1)
const NOW_SECONDS = NOW / 1_000

export const RULES: JwtRules = {
  issuer: ISSUER,
  audience: [AUDIENCE],
  algorithms: ['EdDSA'],
  clockToleranceSeconds: 5,
}

export const ed25519 = () => generateKeyPairSync('ed25519')
export const rsa = (modulusLength = 2_048) => generateKeyPairSync('rsa', { modulusLength })

export const pemOf = (key: KeyObject): Uint8Array =>
  new TextEncoder().encode(key.export({ type: 'spki', format: 'pem' }).toString())

export const CLAIMS = { iss: ISSUER, aud: AUDIENCE, sub: 'alice', iat: NOW_SECONDS, exp: NOW_SECONDS + 300 }

/** A JWT that only its header, its claims or its key can make invalid. */
export const forge = (parts: Partial<ForgedJwt>): string => forgeJwt({ claims: CLAIMS, ...parts })
