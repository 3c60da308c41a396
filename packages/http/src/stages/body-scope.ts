import { authorizeOperation } from '@perdure/core'
import type { CreateStage } from './stage.ts'

/** Checks the scope that only some bodies demand: raw traces require a stronger scope than sanitized ones. */
export const createBodyScope: CreateStage = () => (exchange) => {
  const { route, principal, body } = exchange
  const rule = route?.mounted.operation.scope
  if (typeof rule !== 'object' || rule === null || !('rawScope' in rule)) return undefined
  const isRaw = typeof body === 'object' && body !== null && 'raw' in body && body.raw === true
  if (isRaw) authorizeOperation(principal, { scope: { ...rule, scope: rule.rawScope } }, {})
  return undefined
}
