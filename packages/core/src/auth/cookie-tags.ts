import type { Digest } from '@perdure/ports'

/**
 * The ends of the names of this server's cookies, for requests to this port. Browsers send a cookie to every port of a
 * host, so servers on one host must not share the name of a cookie. The first tag belongs to the current pepper; cookies
 * that were set before the pepper was rotated have one of the others.
 */
export type CookieTags = (port: string) => readonly [current: string, ...previous: string[]]

export interface CookieTagsDeps {
  readonly digest: Pick<Digest, 'deriveKey' | 'hmacSha256'>
  readonly secret: Uint8Array
  readonly previousSecrets: readonly Uint8Array[]
}

const TAG_LENGTH = 10

/** Processes with the same pepper, such as the servers of a cluster, have the same tags; so has a restarted server. */
export function createCookieTags({ digest, secret, previousSecrets }: CookieTagsDeps): CookieTags {
  const keyOf = (from: Uint8Array) => digest.deriveKey(from, 'perdure/cookie-name/v1')
  const key = keyOf(secret)
  const previousKeys = previousSecrets.map(keyOf)
  const tagOf = (by: Uint8Array, port: string) => digest.hmacSha256(by, port).slice(0, TAG_LENGTH)

  return (port) => [tagOf(key, port), ...previousKeys.map((by) => tagOf(by, port))]
}
