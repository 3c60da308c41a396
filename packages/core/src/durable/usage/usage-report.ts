import { perdureError } from '@perdure/ports'
import { checkMembers } from '../check-options.ts'

/** The usage of one model call. */
export interface UsageReport {
  readonly provider: string
  readonly model: string
  readonly inputTokens?: number
  /** How many of the input tokens the provider has read from its cache. */
  readonly cachedInputTokens?: number
  readonly outputTokens?: number
  /** In US dollars. Default: the cost by `models.prices` of the configuration, or 0 for a model without a price. */
  readonly costUsd?: number
}

const MEMBERS = ['provider', 'model', 'inputTokens', 'cachedInputTokens', 'outputTokens', 'costUsd']

/** @throws PerdureError `validation-failed` for an invalid name or amount */
export function checkUsage(report: UsageReport): void {
  checkMembers('ctx.usage', report, MEMBERS)
  const { provider, model, inputTokens, cachedInputTokens, outputTokens, costUsd } = report
  const areNames = [provider, model].every((name) => typeof name === 'string' && name !== '' && name.length <= 128)
  const areAmounts = [inputTokens, cachedInputTokens, outputTokens, costUsd].every(
    (amount) =>
      amount === undefined || (typeof amount === 'number' && amount >= 0 && amount <= Number.MAX_SAFE_INTEGER),
  )
  if (areNames && areAmounts) return
  throw perdureError('validation-failed', {
    message: 'ctx.usage needs a provider, a model, and non-negative amounts',
    hint: 'leave out unknown amounts',
  })
}
