import type { Digest, IdGenerator } from '@perdure/ports'

export interface CsrfTokensDeps {
  readonly digest: Digest
  readonly ids: Pick<IdGenerator, 'randomBytes'>
  readonly key: Uint8Array
}

/** Double-submit CSRF tokens, each bound to one browser session. */
export interface CsrfTokens {
  issue(session: string): string
  /** Whether the cookie was issued for this session and equals the value that the page sent. */
  verify(session: string, cookie: string, sent: string): boolean
}

const RANDOM_BYTES = 16

/** `<random>.<HMAC-SHA256(key, session and random)>` in hex. */
export function createCsrfTokens({ digest, ids, key }: CsrfTokensDeps): CsrfTokens {
  const sign = (session: string, random: string) =>
    `${random}.${digest.hmacSha256(key, JSON.stringify([session, random]))}`

  return {
    issue: (session) => sign(session, toHex(ids.randomBytes(RANDOM_BYTES))),
    verify(session, cookie, sent) {
      const [random = ''] = cookie.split('.')
      return digest.equals(cookie, sent) && digest.equals(cookie, sign(session, random))
    },
  }
}

const toHex = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
