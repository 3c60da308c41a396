import { scopeRuleOf } from '../operation-traits.ts'
import type { CreateStage } from './stage.ts'

/** Authenticates the caller, unless the operation is public. Repeated failures lock out the client address. */
export const createAuthentication: CreateStage =
  ({ authenticate, config }) =>
  (exchange) => {
    const { head, route, clientAddress } = exchange
    if (route === undefined || scopeRuleOf(route.mounted.operation, config) === null) return undefined
    return authenticate(head.header('authorization'), clientAddress).then((principal) => {
      exchange.principal = { ...principal, origin: exchange.origin }
      return undefined
    })
  }
