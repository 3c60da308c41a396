import { checkApprovalOptions } from './approvals/check-approval-options.ts'
import { checkMembers, durationProblem, objectProblem, type Problem, refuseProblems } from './check-options.ts'
import { repeatProblem } from './check-step-options.ts'
import type { ToolCall } from './tool.ts'

/** @throws PerdureError `validation-failed` for an invalid call; the failure of a tool itself is returned as data */
export function checkToolCall<A, T>(call: ToolCall<A, T>): void {
  refuseProblems('a tool', [call === undefined ? 'its argument is missing' : objectProblem('its argument', call)])
  checkMembers('a tool', call, MEMBERS)
  const { execute, timeout, approval, toolCallId } = call
  refuseProblems('a tool', [
    typeof execute === 'function' ? undefined : 'execute must be a function',
    durationProblem('timeout', timeout, { min: 1 }),
    repeatProblem(call),
    toolCallIdProblem(toolCallId),
    typeof approval === 'boolean' ? undefined : objectProblem('approval', approval),
  ])
  if (typeof approval === 'object') checkApprovalOptions(approval)
}

const MEMBERS: readonly (keyof ToolCall)[] = [
  ...(['name', 'args', 'toolCallId', 'execute', 'timeout'] as const),
  ...(['retries', 'recoveries', 'onCrash', 'approval'] as const),
]

export const toolCallIdProblem = (id: unknown): Problem =>
  id === undefined || (typeof id === 'string' && TOOL_CALL_ID.test(id))
    ? undefined
    : 'toolCallId must be 1 to 128 visible ASCII characters'

const TOOL_CALL_ID = /^[\x21-\x7e]{1,128}$/

/** @throws PerdureError `validation-failed` when this execution has already made a call with this id */
export function takeToolCallId(taken: Set<string>, id: string): void {
  refuseProblems('a tool', [taken.has(id) ? `toolCallId ${id} is the id of an earlier call of this run` : undefined])
  taken.add(id)
}
