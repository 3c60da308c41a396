import {
  checkMembers,
  durationProblem,
  membersProblem,
  objectProblem,
  type Problem,
  refuseProblems,
} from './check-options.ts'
import { recoveriesProblem, retriesProblem } from './retry-policy.ts'
import type { RepeatOptions, StepOptions } from './step.ts'

const ON_CRASH: readonly unknown[] = [undefined, 'retry', 'fail', 'ask']

/** The first problem with what happens after an error or a crash. */
export const repeatProblem = ({ onCrash, retries, recoveries }: RepeatOptions): Problem =>
  (ON_CRASH.includes(onCrash) ? undefined : "onCrash must be 'retry', 'fail' or 'ask'") ??
  retriesProblem(retries) ??
  recoveriesProblem(recoveries)

/** @throws PerdureError `validation-failed` for a missing function or invalid options */
export function checkStepOptions(fn: unknown, options: StepOptions): void {
  refuseProblems('a step', [
    typeof fn === 'function' ? undefined : 'its second argument must be the function to call',
    objectProblem('its options', options),
  ])
  checkMembers('a step', options, ['retries', 'recoveries', 'timeout', 'onCrash', 'stallTimeout', 'model'])
  const { timeout, stallTimeout, model } = options
  refuseProblems('a step', [
    repeatProblem(options),
    durationProblem('timeout', timeout, { min: 1 }),
    durationProblem('stallTimeout', stallTimeout, { min: 1 }),
    objectProblem('model', model),
    membersProblem(model, ['provider', 'model', 'operation', 'input', 'request']),
  ])
}
