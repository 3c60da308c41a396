import { membersProblem, objectProblem, type Problem, retryNumberProblems } from '../durable/check-options.ts'
import type { RunRetry } from './registration.ts'

const MEMBERS: readonly (keyof RunRetry)[] = ['maxAttempts', 'initialDelayMs', 'factor', 'maxDelayMs', 'jitter']

/** The problem with the `retry` of a registration, if there is one. */
export function retryProblemOf(retry: RunRetry | undefined): Problem {
  if (retry === undefined) return undefined
  const { maxAttempts, jitter } = retry ?? {}
  const problems = [
    retry === null ? 'retry must be an object' : objectProblem('retry', retry),
    inRetry(membersProblem(retry ?? {}, MEMBERS)),
    maxAttempts === undefined ? 'retry.maxAttempts is missing' : undefined,
    ...retryNumberProblems(retry ?? {}),
    jitter === undefined || jitter === 'full' || jitter === 'none' ? undefined : 'retry.jitter must be full or none',
  ]
  return problems.find((problem) => problem !== undefined)
}

const inRetry = (problem: Problem): Problem => (problem === undefined ? undefined : `retry: ${problem}`)
