import type { CookieTags, Principal } from '@perdure/core'
import type { Exchange } from '../exchange.ts'
import type { HttpConfig } from '../http-app-deps.ts'
import { scopeRuleOf } from '../operation-traits.ts'
import { UNKNOWN_ADDRESS } from '../request/client.ts'
import { sessionCookieOf } from '../sign-in/session-cookie.ts'
import type { CreateStage } from './stage.ts'

/**
 * Authenticates the caller by the Authorization header or the cookie of a console session, unless the operation is
 * public or the caller is inside the process. Repeated failures lock out the client address.
 */
export const createAuthentication: CreateStage =
  ({ authenticate, config, cookieTags }) =>
  (exchange) => {
    const { env, route, clientAddress } = exchange
    if (env.caller !== undefined) exchange.principal = { ...env.caller, origin: exchange.origin }
    if (env.caller !== undefined) return undefined
    if (route === undefined) return undefined
    const isPublic = scopeRuleOf(route.mounted.operation, config) === null
    const { authorization, kind } = credentialOf(exchange, config, cookieTags)
    const isKnown = authorization !== undefined || config.authKind === 'none'
    if (isPublic && !(route.mounted.operation.showsMore && isKnown)) return undefined
    const address = clientAddress === UNKNOWN_ADDRESS ? undefined : clientAddress
    const authenticated = authenticate(authorization, address, kind).then((principal) => {
      exchange.principal = { ...principal, origin: exchange.origin, ...sessionOf(principal, kind) }
      return undefined
    })
    // A public operation needs no valid token.
    return isPublic ? authenticated.catch(() => undefined) : authenticated
  }

/** The header wins over the cookie, so that a page can also call with a token. */
function credentialOf(exchange: Exchange, { consoleEnabled }: HttpConfig, cookieTags: CookieTags) {
  const header = exchange.head.header('authorization')
  if (header !== undefined || !consoleEnabled) return { authorization: header, kind: 'bearer' } as const
  return { authorization: sessionCookieOf(exchange, cookieTags), kind: 'cookie' } as const
}

const sessionOf = ({ tokenId }: Principal, kind: 'bearer' | 'cookie') =>
  kind === 'bearer' || tokenId === undefined ? {} : { browserSession: tokenId }
