import { authorizeOperation } from '@perdure/core'
import { scopeRuleOf } from '../operation-traits.ts'
import type { CreateStage } from './stage.ts'

/**
 * Checks the caller's scopes and determines which rows it may see. Reads neither the query nor the body, so that a
 * caller without the scope costs no parsing.
 */
export const createScope: CreateStage =
  ({ config }) =>
  (exchange) => {
    const { route, principal } = exchange
    if (route === undefined) return undefined
    const { operation } = route.mounted
    const rule = { scope: scopeRuleOf(operation, config), sight: operation.sight }
    exchange.visibility = authorizeOperation(principal, rule, route.params)
    return undefined
  }
