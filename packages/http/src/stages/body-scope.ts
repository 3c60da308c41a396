import { authorizeOperation, authorizeTarget } from '@perdure/core'
import { namedTarget } from '@perdure/protocol'
import type { CreateStage } from './stage.ts'

/**
 * Checks the scope that depends on the body: raw traces require a stronger scope than sanitized ones, and a body can name
 * what is started.
 */
export const createBodyScope: CreateStage = () => (exchange) => {
  const { route, principal, body } = exchange
  const targetFrom = route?.mounted.operation.targetFrom
  if (targetFrom !== undefined)
    authorizeTarget(principal, namedTarget((body as Record<string, string>)[targetFrom] ?? ''))
  const rule = route?.mounted.operation.scope
  if (typeof rule !== 'object' || rule === null || !('rawScope' in rule)) return undefined
  const isRaw = typeof body === 'object' && body !== null && 'raw' in body && body.raw === true
  if (isRaw) authorizeOperation(principal, { scope: { ...rule, scope: rule.rawScope } }, {})
  return undefined
}
