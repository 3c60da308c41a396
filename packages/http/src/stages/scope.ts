import { authorizeOperation } from '@perdure/core'
import type { ScopeRule } from '@perdure/protocol'
import type { Exchange } from '../exchange.ts'
import type { HttpConfig } from '../http-app-deps.ts'
import { scopeRuleOf } from '../operation-traits.ts'
import type { Route } from '../router.ts'
import type { CreateStage } from './stage.ts'

/** Checks the caller's scopes and determines which rows it may see. */
export const createScope: CreateStage =
  ({ config }) =>
  (exchange) => {
    const { route, principal } = exchange
    if (route === undefined) return undefined
    const { sight } = route.mounted.operation
    const asked = { scope: demandOf(route, exchange, config), sight }
    exchange.visibility = authorizeOperation(principal, asked, route.params)
    return undefined
  }

/** Raw traces require a stronger scope than sanitized ones. */
function demandOf({ mounted }: Route, { body }: Exchange, config: HttpConfig): ScopeRule {
  const rule = scopeRuleOf(mounted.operation, config)
  if (typeof rule !== 'object' || rule === null || !('rawScope' in rule)) return rule
  const isRaw = typeof body === 'object' && body !== null && 'raw' in body && body.raw === true
  return { ...rule, scope: isRaw ? rule.rawScope : rule.scope }
}
