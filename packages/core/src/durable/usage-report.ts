import { perdureError } from '@perdure/ports'
import { checkMembers } from './check-options.ts'

/** The usage of one model call. */
export interface UsageReport {
  readonly provider: string
  readonly model: string
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly costUsd?: number
}

/** @throws PerdureError `validation-failed` for an invalid name or amount */
export function checkUsage(report: UsageReport): void {
  checkMembers('ctx.usage', report, ['provider', 'model', 'inputTokens', 'outputTokens', 'costUsd'])
  const { provider, model, inputTokens, outputTokens, costUsd } = report
  const areNames = [provider, model].every((name) => typeof name === 'string' && name !== '' && name.length <= 128)
  const areAmounts = [inputTokens, outputTokens, costUsd].every(
    (amount) =>
      amount === undefined || (typeof amount === 'number' && amount >= 0 && amount <= Number.MAX_SAFE_INTEGER),
  )
  if (areNames && areAmounts) return
  throw perdureError('validation-failed', {
    message: 'ctx.usage needs a provider, a model, and non-negative amounts',
    hint: 'leave out unknown amounts',
  })
}
