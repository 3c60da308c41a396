import { perdureError } from '@perdure/ports'
import { changesState, type Operation } from '@perdure/protocol'
import type { Exchange } from '../exchange.ts'
import type { HttpAppDeps } from '../http-app-deps.ts'
import { scopeRuleOf } from '../operation-traits.ts'
import { cookieNamed } from '../request/cookies.ts'
import { ownCookieNames } from '../request/own-cookies.ts'
import { isFromOwnSite, isSameOrigin } from '../request/same-origin.ts'
import { type CreateStage, SAFE_METHODS } from './stage.ts'

/**
 * Refuses cross-site requests that a page can make with the user's browser alone: all requests to non-public
 * operations if authentication is off, and unsafe requests authenticated by a cookie. Bearer tokens are exempt, because
 * browsers never send them on their own.
 */
export const createCsrf: CreateStage = (deps) => {
  const { config } = deps

  return (exchange) => {
    const { env, route, principal } = exchange
    if (route === undefined || scopeRuleOf(route.mounted.operation, config) === null) return undefined
    const session = principal.browserSession
    // The host may have identified the user by a cookie.
    if (config.authKind === 'none' || env.caller !== undefined) refuseCrossSite(exchange, config.allowOrigins)
    else if (session !== undefined && config.csrfEnabled) checkSession(deps, exchange, session)
    if (session !== undefined && config.consoleReadOnly) refuseChange(route.mounted.operation)
    return undefined
  }
}

function refuseChange(operation: Operation): void {
  if (!changesState(operation)) return
  throw perdureError('console-read-only', { hint: 'use an API token, or set console.readOnly to false' })
}

/**
 * Sets a missing or invalid CSRF cookie in answers to safe requests; unsafe requests must send its value in a header.
 */
function checkSession(deps: HttpAppDeps, exchange: Exchange, session: string): void {
  const isValid = hasValidDoubleSubmit(deps, exchange, session)
  if (SAFE_METHODS.has(exchange.head.method)) {
    if (!isValid) exchange.headers.set('Set-Cookie', cookieOf(deps, exchange, session))
    return
  }
  refuseCrossSite(exchange, deps.config.allowOrigins)
  if (isValid) return
  throw perdureError('csrf-denied', {
    hint: `send the value of the cookie ${cookieNameOf(deps, exchange)} in the header ${HEADER}`,
  })
}

function refuseCrossSite(exchange: Exchange, allowOrigins: readonly string[]): void {
  if (!isCrossSite(exchange, allowOrigins)) return
  throw perdureError('csrf-denied', {
    hint: 'call from a page of this server, or add the origin to server.cors.allowOrigins',
  })
}

/**
 * Whether a browser sent the request for a page of another site. Reads headers that only browsers send, so the result
 * is false for other clients. An origin allowed only by `*` is still cross-site.
 */
function isCrossSite({ head }: Exchange, allowOrigins: readonly string[]): boolean {
  const origin = head.header('origin')
  if (origin === undefined) return !isFromOwnSite(head)
  return !(allowOrigins.includes(origin) || isSameOrigin(origin, head.host))
}

const HEADER = 'X-CSRF-Token'

const cookieNameOf = ({ cookieTags }: HttpAppDeps, { head, isSecure }: Exchange): string =>
  ownCookieNames('csrf', { host: head.host, isSecure }, cookieTags)[0]

/** The cookie is not HttpOnly, because pages must read it. */
const cookieOf = (deps: HttpAppDeps, exchange: Exchange, session: string): string =>
  `${cookieNameOf(deps, exchange)}=${deps.csrfTokens.issue(session)}; Path=/; SameSite=Strict${exchange.isSecure ? '; Secure' : ''}`

function hasValidDoubleSubmit(deps: HttpAppDeps, exchange: Exchange, session: string): boolean {
  const { header, method } = exchange.head
  const cookie = cookieNamed(exchange.head, cookieNameOf(deps, exchange))
  if (cookie === undefined) return false
  const sent = SAFE_METHODS.has(method) ? cookie : (header(HEADER.toLowerCase()) ?? '')
  return deps.csrfTokens.verify(session, cookie, sent)
}
