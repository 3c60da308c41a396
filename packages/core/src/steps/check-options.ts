import { AppError } from '@berth/ports'

const DAY_MS = 86_400_000
/** The longest pause or time-out, a hundred years: beyond that nobody waits. */
export const LONGEST_MS = 36_525 * DAY_MS

/** What is wrong with an option; `undefined` when nothing is. */
export type Problem = string | undefined

/** @throws AppError `validation-failed` with the first problem */
export function refuseProblems(what: string, problems: readonly Problem[]): void {
  const problem = problems.find((one) => one !== undefined)
  if (problem === undefined) return
  throw new AppError('validation-failed', {
    message: `${what}: ${problem}`,
    hint: 'the options of a durable call are checked before it takes effect',
  })
}

/** A missing value is right. */
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
