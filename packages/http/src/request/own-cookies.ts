import type { CookieTags } from '@perdure/core'

/** What the name of a cookie depends on. */
export interface CookieScope {
  /** The Host header. */
  readonly host: string
  /** Whether the client used TLS. */
  readonly isSecure: boolean
}

/**
 * The names of a cookie of this server: first the one to set, then those that were set before the pepper was rotated.
 * Over TLS, the prefix `__Host-` prevents other hosts of the domain from setting the cookie.
 */
export function ownCookieNames(
  kind: 'console' | 'csrf' | 'sign-in',
  { host, isSecure }: CookieScope,
  cookieTags: CookieTags,
): readonly [current: string, ...previous: string[]] {
  const nameOf = (tag: string) => `${isSecure ? '__Host-' : ''}perdure-${kind}-${tag}`
  const [current, ...previous] = cookieTags(/:(\d+)$/.exec(host)?.[1] ?? '')
  return [nameOf(current), ...previous.map(nameOf)]
}
