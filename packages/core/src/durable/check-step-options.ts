import {
  checkMembers,
  LONGEST_MS,
  numberProblem,
  objectProblem,
  type Problem,
  refuseProblems,
  retryNumberProblems,
} from './check-options.ts'
import type { StepOptions } from './step.ts'

const ON_CRASH: readonly unknown[] = [undefined, 'retry', 'fail', 'ask']

export const crashProblem = (onCrash: unknown): Problem =>
  ON_CRASH.includes(onCrash) ? undefined : "onCrash must be 'retry', 'fail' or 'ask'"

/** @throws AppError `validation-failed` for a missing function or invalid options */
export function checkStepOptions(fn: unknown, options: StepOptions): void {
  refuseProblems('a step', [
    typeof fn === 'function' ? undefined : 'its second argument must be the function to call',
    objectProblem('its options', options),
    objectProblem('retry', options?.retry),
  ])
  checkMembers('a step', options, ['retry', 'timeoutMs', 'onCrash'])
  const { retry = {}, timeoutMs, onCrash } = options
  checkMembers('the retry of a step', retry, ['maxAttempts', 'initialDelayMs', 'factor', 'maxDelayMs'])
  refuseProblems('a step', [
    crashProblem(onCrash),
    numberProblem('timeoutMs', timeoutMs, { min: 1, max: LONGEST_MS }),
    ...retryNumberProblems(retry),
  ])
}
