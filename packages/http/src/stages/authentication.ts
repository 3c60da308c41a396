import { ruleOf } from '../operation-traits.ts'
import type { CreateStage } from './stage.ts'

/** Finds out who asks, unless anyone may; whoever fails too often is locked out. */
export const createAuthentication: CreateStage =
  ({ authenticate, config }) =>
  (exchange) => {
    const { head, route, clientAddress } = exchange
    if (route === undefined || ruleOf(route.mounted.operation, config) === null) return undefined
    return authenticate(head.header('authorization'), clientAddress).then((principal) => {
      exchange.principal = { ...principal, origin: exchange.origin }
      return undefined
    })
  }
