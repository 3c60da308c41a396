import { checkApprovalOptions } from './check-approval-options.ts'
import { checkMembers, LONGEST_MS, numberProblem, objectProblem, refuseProblems } from './check-options.ts'
import { crashProblem } from './check-step-options.ts'
import type { ToolCall } from './tool.ts'

/** @throws AppError `validation-failed` for an invalid call; the failure of a tool itself is returned as data */
export function checkToolCall<A, T>(call: ToolCall<A, T>): void {
  refuseProblems('a tool', [call === undefined ? 'its argument is missing' : objectProblem('its argument', call)])
  checkMembers('a tool', call, ['name', 'args', 'execute', 'timeoutMs', 'onCrash', 'approval'])
  const { execute, timeoutMs, onCrash, approval } = call
  refuseProblems('a tool', [
    typeof execute === 'function' ? undefined : 'execute must be a function',
    numberProblem('timeoutMs', timeoutMs, { min: 1, max: LONGEST_MS }),
    crashProblem(onCrash),
    typeof approval === 'boolean' ? undefined : objectProblem('approval', approval),
  ])
  if (typeof approval === 'object') checkApprovalOptions(approval)
}
