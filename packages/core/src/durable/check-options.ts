import { AppError } from '@perdure/ports'
import { nearest } from '@perdure/protocol'
import type { Backoff } from '../concurrency/backoff.ts'

const DAY_MS = 86_400_000
/** The longest delay or timeout that is accepted: a hundred years. */
export const LONGEST_MS = 36_525 * DAY_MS

/** The problem with an option; `undefined` when it is valid. */
export type Problem = string | undefined

/** @throws AppError `validation-failed` with the first problem */
export function refuseProblems(what: string, problems: readonly Problem[]): void {
  const problem = problems.find((one) => one !== undefined)
  if (problem === undefined) return
  throw new AppError('validation-failed', {
    message: `${what}: ${problem}`,
    hint: 'correct the options; nothing was executed',
  })
}

/**
 * Rejects options that are not an object or have an unknown member, and suggests the member that was probably meant.
 */
export function checkMembers(what: string, given: object, known: readonly string[]): void {
  refuseProblems(what, [objectProblem('its options', given)])
  refuseProblems(what, [membersProblem(given, known)])
}

/** The first member that is not known, and the member that was probably meant. */
export function membersProblem(given: object | undefined, known: readonly string[]): Problem {
  const unknown = Object.keys(given ?? {}).find((name) => !known.includes(name))
  if (unknown === undefined) return undefined
  const meant = nearest(unknown, known)
  const guess = meant === undefined ? '' : ` (did you mean ${meant}?)`
  return `${unknown} is not an option${guess}; the options are ${known.join(', ')}`
}

/** A missing value is valid. */
export const numberProblem = (
  name: string,
  value: unknown,
  { min, max, isWhole = false }: { readonly min: number; readonly max: number; readonly isWhole?: boolean },
): Problem => {
  if (value === undefined) return undefined
  const isRight = typeof value === 'number' && value >= min && value <= max && (!isWhole || Number.isInteger(value))
  return isRight ? undefined : `${name} must be a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}`
}

export const objectProblem = (name: string, value: unknown): Problem =>
  value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value))
    ? undefined
    : `${name} must be an object`

const DELAY = { min: 0, max: LONGEST_MS }

/** The problems with the numbers of a `retry` option, of a step or of a registration. */
export const retryNumberProblems = (retry: Backoff & { readonly maxAttempts?: number }): readonly Problem[] => [
  numberProblem('retry.maxAttempts', retry.maxAttempts, { min: 1, max: 1_000, isWhole: true }),
  numberProblem('retry.initialDelayMs', retry.initialDelayMs, DELAY),
  numberProblem('retry.maxDelayMs', retry.maxDelayMs, DELAY),
  numberProblem('retry.factor', retry.factor, { min: 1, max: 100 }),
]
