import { checkApprovalOptions } from './check-approval-options.ts'
import {
  checkMembers,
  LONGEST_MS,
  numberProblem,
  objectProblem,
  type Problem,
  refuseProblems,
} from './check-options.ts'
import { crashProblem } from './check-step-options.ts'
import type { ToolCall } from './tool.ts'

/** @throws AppError `validation-failed` for an invalid call; the failure of a tool itself is returned as data */
export function checkToolCall<A, T>(call: ToolCall<A, T>): void {
  refuseProblems('a tool', [call === undefined ? 'its argument is missing' : objectProblem('its argument', call)])
  checkMembers('a tool', call, ['name', 'args', 'toolCallId', 'execute', 'timeoutMs', 'onCrash', 'approval'])
  const { execute, timeoutMs, onCrash, approval, toolCallId } = call
  refuseProblems('a tool', [
    typeof execute === 'function' ? undefined : 'execute must be a function',
    numberProblem('timeoutMs', timeoutMs, { min: 1, max: LONGEST_MS }),
    crashProblem(onCrash),
    toolCallIdProblem(toolCallId),
    typeof approval === 'boolean' ? undefined : objectProblem('approval', approval),
  ])
  if (typeof approval === 'object') checkApprovalOptions(approval)
}

export const toolCallIdProblem = (id: unknown): Problem =>
  id === undefined || (typeof id === 'string' && TOOL_CALL_ID.test(id))
    ? undefined
    : 'toolCallId must be 1 to 128 visible ASCII characters'

const TOOL_CALL_ID = /^[\x21-\x7e]{1,128}$/

/** @throws AppError `validation-failed` when this execution has already made a call with this id */
export function takeToolCallId(taken: Set<string>, id: string): void {
  refuseProblems('a tool', [taken.has(id) ? `toolCallId ${id} is the id of an earlier call of this run` : undefined])
  taken.add(id)
}
