import { scopeRuleOf } from '../operation-traits.ts'
import { UNKNOWN_ADDRESS } from '../request/client.ts'
import type { CreateStage } from './stage.ts'

/**
 * Authenticates the caller, unless the operation is public or the caller is inside the process. Repeated failures lock
 * out the client address.
 */
export const createAuthentication: CreateStage =
  ({ authenticate, config }) =>
  (exchange) => {
    const { head, env, route, clientAddress } = exchange
    if (env.caller !== undefined) exchange.principal = { ...env.caller, origin: exchange.origin }
    if (env.caller !== undefined) return undefined
    if (route === undefined) return undefined
    const isPublic = scopeRuleOf(route.mounted.operation, config) === null
    const authorization = head.header('authorization')
    const isKnown = authorization !== undefined || config.authKind === 'none'
    if (isPublic && !(route.mounted.operation.showsMore && isKnown)) return undefined
    const address = clientAddress === UNKNOWN_ADDRESS ? undefined : clientAddress
    const authenticated = authenticate(authorization, address).then((principal) => {
      exchange.principal = { ...principal, origin: exchange.origin }
      return undefined
    })
    // A public operation needs no valid token.
    return isPublic ? authenticated.catch(() => undefined) : authenticated
  }
