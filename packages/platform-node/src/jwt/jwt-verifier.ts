import type { JwtKeys, JwtRules, JwtVerdict, JwtVerifier } from '@perdure/ports'
import type { JWTVerifyGetKey, JWTVerifyOptions } from 'jose'
import { createKeySetFetch, isKeysUnavailable, type KeySetFetchOptions } from './key-set-fetch.ts'
import { localKeys } from './local-keys.ts'

export interface JwtVerifierOptions extends KeySetFetchOptions {
  /** How long a fetched JWK Set is used. Default: 10 minutes. */
  readonly maxAgeMs?: number
}

const COOL_DOWN_MS = 30_000
const FETCH_TIMEOUT_MS = 5_000
const MAX_AGE_MS = 600_000

let library: typeof import('jose') | undefined

/** An `import()` takes 20 of the 50 µs of a verification even if the module is loaded already. */
const loadLibrary = async () => {
  library ??= await import('jose')
  return library
}

/** Verifies JWTs with `jose`, which is loaded with the first JWT. */
export function createJwtVerifier(options: JwtVerifierOptions = {}): JwtVerifier {
  const { maxAgeMs = MAX_AGE_MS, coolDownMs = COOL_DOWN_MS, timeoutMs = FETCH_TIMEOUT_MS } = options

  const remoteKeys = (url: string) => {
    const fetchKeySet = createKeySetFetch(options)
    return async (): Promise<JWTVerifyGetKey> => {
      const { createRemoteJWKSet, customFetch } = await loadLibrary()
      return createRemoteJWKSet(new URL(url), {
        cacheMaxAge: maxAgeMs,
        cooldownDuration: coolDownMs,
        timeoutDuration: timeoutMs,
        [customFetch]: fetchKeySet,
      })
    }
  }

  const openKeys = ({ algorithms }: JwtRules, keys: JwtKeys) =>
    'url' in keys ? remoteKeys(keys.url) : localKeys(keys.bytes, algorithms)

  return {
    open(rules, keys) {
      const load = openKeys(rules, keys)
      let loading: Promise<JWTVerifyGetKey> | undefined
      const getKey: JWTVerifyGetKey = async (header, token) => {
        loading ??= load()
        return (await loading)(header, token)
      }
      const { issuer, audience, algorithms, typ, maxAgeSeconds, clockToleranceSeconds: clockTolerance } = rules
      const options: JWTVerifyOptions = {
        ...{ issuer, audience: [...audience], algorithms: [...algorithms], clockTolerance },
        ...(typ === undefined ? {} : { typ }),
        ...(maxAgeSeconds === undefined ? {} : { maxTokenAge: maxAgeSeconds }),
        requiredClaims: ['exp'],
      }
      return async (jwt, now) => {
        const { jwtVerify } = library ?? (await loadLibrary())
        try {
          const { payload } = await jwtVerify(jwt, getKey, { ...options, currentDate: new Date(now) })
          return { kind: 'verified', claims: payload }
        } catch (error) {
          return verdictOf(error)
        }
      }
    },
  }
}

function verdictOf(error: unknown): JwtVerdict {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  const reason = String(message)
  if (isKeysUnavailable(error)) return { kind: 'keys-unavailable', reason }
  // `jose` checks claims only after it has verified the signature.
  return code === 'ERR_JWT_EXPIRED' ? { kind: 'expired' } : { kind: 'invalid', reason }
}
