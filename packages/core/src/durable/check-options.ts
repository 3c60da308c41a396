import { perdureError } from '@perdure/ports'
import { DURATION_FORMS, nearest, toMilliseconds } from '@perdure/protocol'

const DAY_MS = 86_400_000
/** The longest delay or timeout that is accepted: a hundred years. */
const LONGEST_MS = 36_525 * DAY_MS

/** The problem with an option; `undefined` when it is valid. */
export type Problem = string | undefined

/** @throws PerdureError `validation-failed` with the first problem */
export function refuseProblems(what: string, problems: readonly Problem[]): void {
  const problem = problems.find((one) => one !== undefined)
  if (problem === undefined) return
  throw perdureError('validation-failed', {
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

/** A missing duration is valid. @param min,max in milliseconds */
export const durationProblem = (
  name: string,
  value: unknown,
  { min = 0, max = LONGEST_MS }: { readonly min?: number; readonly max?: number } = {},
): Problem => {
  if (value === undefined) return undefined
  const milliseconds = toMilliseconds(value)
  if (milliseconds === undefined) return `${name} must be ${DURATION_FORMS}`
  const isRight = milliseconds >= min && milliseconds <= max
  return isRight ? undefined : `${name} must be a duration from ${min} to ${max} milliseconds`
}
