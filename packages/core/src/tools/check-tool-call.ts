import { checkApprovalOptions } from '../approvals/check-approval-options.ts'
import { LONGEST_MS, numberProblem, objectProblem, refuseProblems } from '../steps/check-options.ts'
import type { ToolCall } from './tool.ts'

/** @throws AppError `validation-failed` for a call that is no call of a tool; how a tool fails is data instead */
export function checkToolCall<A, T>(call: ToolCall<A, T>): void {
  refuseProblems('a tool', [call === undefined ? 'it must be described' : objectProblem('its description', call)])
  const { execute, timeoutMs, approval } = call
  refuseProblems('a tool', [
    typeof execute === 'function' ? undefined : 'execute must be a function',
    numberProblem('timeoutMs', timeoutMs, { min: 1, max: LONGEST_MS }),
    typeof approval === 'boolean' ? undefined : objectProblem('approval', approval),
  ])
  if (typeof approval === 'object') checkApprovalOptions(approval)
}
