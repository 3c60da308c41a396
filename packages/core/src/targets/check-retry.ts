import { LONGEST_MS, membersProblem, numberProblem, objectProblem, type Problem } from '../durable/check-options.ts'
import type { RunRetry } from './registration.ts'

const MEMBERS: readonly (keyof RunRetry)[] = ['maxAttempts', 'initialDelayMs', 'factor', 'maxDelayMs', 'jitter']
const DELAY = { min: 0, max: LONGEST_MS }

/** The problem with the `retry` of a registration, if there is one. */
export function retryProblemOf(retry: RunRetry | undefined): Problem {
  if (retry === undefined) return undefined
  const { maxAttempts, initialDelayMs, factor, maxDelayMs, jitter } = retry ?? {}
  const problems = [
    retry === null ? 'retry must be an object' : objectProblem('retry', retry),
    inRetry(membersProblem(retry ?? {}, MEMBERS)),
    maxAttempts === undefined ? 'retry.maxAttempts is missing' : undefined,
    numberProblem('retry.maxAttempts', maxAttempts, { min: 1, max: 1_000, isWhole: true }),
    numberProblem('retry.initialDelayMs', initialDelayMs, DELAY),
    numberProblem('retry.factor', factor, { min: 1, max: 100 }),
    numberProblem('retry.maxDelayMs', maxDelayMs, DELAY),
    jitter === undefined || jitter === 'full' || jitter === 'none' ? undefined : 'retry.jitter must be full or none',
  ]
  return problems.find((problem) => problem !== undefined)
}

const inRetry = (problem: Problem): Problem => (problem === undefined ? undefined : `retry: ${problem}`)
