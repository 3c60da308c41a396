import { AppError } from '@perdure/ports'
import { checkMembers } from './check-options.ts'

/** What a model call cost. */
export interface UsageReport {
  readonly provider: string
  readonly model: string
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly costUsd?: number
}

/** @throws AppError `validation-failed` for what would make the record of the run say nonsense */
export function checkUsage(report: UsageReport): void {
  checkMembers('ctx.usage', report, ['provider', 'model', 'inputTokens', 'outputTokens', 'costUsd'])
  const { provider, model, inputTokens, outputTokens, costUsd } = report
  const areNames = [provider, model].every((name) => typeof name === 'string' && name !== '' && name.length <= 128)
  const areAmounts = [inputTokens, outputTokens, costUsd].every(
    (amount) =>
      amount === undefined || (typeof amount === 'number' && amount >= 0 && amount <= Number.MAX_SAFE_INTEGER),
  )
  if (areNames && areAmounts) return
  throw new AppError('validation-failed', {
    message: 'usage takes a provider, a model, and amounts from 0',
    hint: 'leave out what is not known',
  })
}
