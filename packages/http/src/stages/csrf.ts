import { AppError } from '@perdure/ports'
import type { Exchange } from '../exchange.ts'
import type { HttpAppDeps } from '../http-app-deps.ts'
import { ruleOf } from '../operation-traits.ts'
import { isFromOwnSite, isSameOrigin } from '../same-origin.ts'
import type { CreateStage } from './stage.ts'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Refuses what a page of another site makes a browser send, where the browser alone is credential enough: without
 * authentication every such request, with a cookie those that change something. A bearer token is never sent by itself.
 */
export const createCsrf: CreateStage = (deps) => {
  const { config } = deps

  return (exchange) => {
    const { route, principal } = exchange
    if (route === undefined || ruleOf(route.mounted.operation, config) === null) return undefined
    const session = principal.browserSession
    if (config.authKind === 'none') refuseCrossSite(exchange, config.allowOrigins)
    else if (session !== undefined && config.csrfEnabled) checkSession(deps, exchange, session)
    return undefined
  }
}

/** What only reads hands out the value where the page has none; what changes something must bring it. */
function checkSession(deps: HttpAppDeps, exchange: Exchange, session: string): void {
  const isValid = submitsTwice(deps, exchange, session)
  if (SAFE.has(exchange.head.method)) {
    if (!isValid) exchange.headers.set('Set-Cookie', cookieOf(exchange, deps.csrfTokens.issue(session)))
    return
  }
  refuseCrossSite(exchange, deps.config.allowOrigins)
  if (isValid) return
  throw new AppError('csrf-denied', { hint: `send the value of the cookie ${nameOf(exchange)} as ${HEADER}` })
}

function refuseCrossSite(exchange: Exchange, allowOrigins: readonly string[]): void {
  if (!isCrossSite(exchange, allowOrigins)) return
  throw new AppError('csrf-denied', {
    hint: 'call from a page of this server, or list its origin in server.cors.allowOrigins',
  })
}

/** By what browsers say of themselves; other clients say nothing. Any origin (`*`) is not one that was chosen. */
function isCrossSite({ head }: Exchange, allowOrigins: readonly string[]): boolean {
  const origin = head.header('origin')
  if (origin === undefined) return !isFromOwnSite(head)
  return !(allowOrigins.includes(origin) || isSameOrigin(origin, head.host))
}

const HEADER = 'X-CSRF-Token'

/** Over TLS the prefix keeps other hosts of the domain from setting it. */
const nameOf = ({ isSecure }: Exchange): string => (isSecure ? '__Host-perdure-csrf' : 'perdure-csrf')

/** Pages read it, so it is not HttpOnly. */
const cookieOf = (exchange: Exchange, value: string): string =>
  `${nameOf(exchange)}=${value}; Path=/; SameSite=Strict${exchange.isSecure ? '; Secure' : ''}`

function submitsTwice({ csrfTokens }: HttpAppDeps, exchange: Exchange, session: string): boolean {
  const { header, method } = exchange.head
  const name = `${nameOf(exchange)}=`
  const cookies = (header('cookie') ?? '').split(/;\s*/).filter((cookie) => cookie.startsWith(name))
  const [cookie] = cookies
  // Of two cookies one was set by somebody else.
  if (cookies.length !== 1 || cookie === undefined) return false
  const sent = SAFE.has(method) ? cookie.slice(name.length) : (header(HEADER.toLowerCase()) ?? '')
  return csrfTokens.verify(session, cookie.slice(name.length), sent)
}
