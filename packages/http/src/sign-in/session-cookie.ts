import type { CookieTags } from '@perdure/core'
import type { Exchange } from '../exchange.ts'
import { cookieNamed } from '../request/cookies.ts'
import { type CookieScope, ownCookieNames } from '../request/own-cookies.ts'

/** The credential in the cookie of a console session, in the form of an Authorization header. */
export function sessionCookieOf(
  { head, isSecure }: Pick<Exchange, 'head' | 'isSecure'>,
  cookieTags: CookieTags,
): string | undefined {
  for (const name of ownCookieNames('console', { host: head.host, isSecure }, cookieTags)) {
    const cookie = cookieNamed(head, name)
    if (cookie !== undefined && cookie !== '') return `Bearer ${cookie}`
  }
  return undefined
}

interface SessionCookie extends CookieScope {
  /** Empty to delete the cookie. */
  readonly value: string
  readonly maxAgeSeconds: number
}

/** The Set-Cookie header of a console session. */
export function setSessionCookie({ value, maxAgeSeconds, ...scope }: SessionCookie, cookieTags: CookieTags): string {
  const [name] = ownCookieNames('console', scope, cookieTags)
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${scope.isSecure ? '; Secure' : ''}`
}
