import { type ApprovalItem, isFields, type ToolItem } from '@perdure/core'

/**
 * The payload of a request for approval that says more than the tool call which asks for it: code can give a payload of its
 * own. `undefined` if the payload is only the call.
 */
export function ownDetails({ payload }: ApprovalItem, tool: ToolItem): unknown {
  if (!isFields(payload)) return payload
  const { toolName, args, ...more } = payload
  const isCall = typeof toolName === 'string' && Object.keys(more).length === 0
  return isCall && JSON.stringify(args) === JSON.stringify(tool.args) ? undefined : payload
}
