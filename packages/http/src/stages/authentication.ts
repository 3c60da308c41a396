import { ruleOf } from '../operation-traits.ts'
import type { CreateStage } from './stage.ts'

/** Finds out who asks, unless anyone may; whoever fails too often is locked out. */
export const createAuthentication: CreateStage =
  ({ authenticate, config }) =>
  async (exchange) => {
    const { head, route, clientAddress } = exchange
    if (route === undefined || ruleOf(route.mounted.operation, config) === null) return undefined
    const principal = await authenticate(head.header('authorization'), clientAddress)
    exchange.principal = { ...principal, origin: exchange.origin }
    return undefined
  }
