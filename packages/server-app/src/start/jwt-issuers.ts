import type { JwtIssuer } from '@perdure/core'
import { type JwtKeys, type JwtRules, type JwtVerifier, StartError } from '@perdure/ports'
import type { JwtIssuer as JwtIssuerConfig, ServerConfig } from '@perdure/protocol'

/**
 * The issuers whose JWTs the server accepts. Opens no connection.
 *
 * @throws StartError `config-invalid` if JWTs are configured without authentication, or a key does not fit its algorithms
 */
export function createJwtIssuers(
  { auth }: ServerConfig,
  jwtKeys: readonly JwtKeys[],
  verifier: JwtVerifier,
): readonly JwtIssuer[] {
  if (auth.kind === 'none' && auth.jwt.length > 0) {
    throw new StartError('config-invalid', {
      message: 'auth.jwt: has no effect with auth.kind none, which accepts every request',
      hint: 'set auth.kind to token, or remove auth.jwt',
    })
  }
  return auth.jwt.map((issuer, index) => {
    const rules = rulesOf(issuer)
    const keys = jwtKeys[index] ?? { bytes: new Uint8Array() }
    return { ...issuer, ...rules, verify: openIssuer({ verifier, rules, keys, field: `auth.jwt.${index}.keys` }) }
  })
}

const rulesOf = ({ issuer, audience, algorithms, typ, maxAge, clockTolerance }: JwtIssuerConfig): JwtRules => ({
  ...{ issuer, algorithms, typ, maxAgeSeconds: maxAge, clockToleranceSeconds: clockTolerance },
  audience: typeof audience === 'string' ? [audience] : audience,
})

interface Opening {
  readonly verifier: JwtVerifier
  readonly rules: JwtRules
  readonly keys: JwtKeys
  readonly field: string
}

function openIssuer({ verifier, rules, keys, field }: Opening) {
  try {
    return verifier.open(rules, keys)
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause)
    throw new StartError('config-invalid', {
      message: `${field}: ${problem}`,
      hint: 'give the key of the issuer that fits auth.jwt[].algorithms',
      cause,
    })
  }
}
