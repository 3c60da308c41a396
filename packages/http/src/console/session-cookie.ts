import type { Exchange } from '../exchange.ts'
import { cookieNamed } from '../request/cookies.ts'

/** Over TLS, the prefix `__Host-` prevents other hosts of the domain from setting the cookie. */
const cookieNameOf = ({ isSecure }: Pick<Exchange, 'isSecure'>): string =>
  isSecure ? '__Host-perdure-console' : 'perdure-console'

/** The credential in the cookie of a console session, in the form of an Authorization header. */
export function sessionCookieOf(exchange: Pick<Exchange, 'head' | 'isSecure'>): string | undefined {
  const cookie = cookieNamed(exchange.head, cookieNameOf(exchange))
  return cookie === undefined || cookie === '' ? undefined : `Bearer ${cookie}`
}

/** The Set-Cookie header of a console session; an empty value with `maxAgeSeconds` 0 deletes the cookie. */
export const setSessionCookie = (
  value: string,
  { isSecure, maxAgeSeconds }: Pick<Exchange, 'isSecure'> & { readonly maxAgeSeconds: number },
): string =>
  `${cookieNameOf({ isSecure })}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
