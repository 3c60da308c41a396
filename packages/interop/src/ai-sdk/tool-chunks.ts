import type { ApprovalItem, ToolItem } from '@perdure/core'
import { type Content, itemIn } from '@perdure/core'
import { isOpenApproval } from '@perdure/protocol'
import { ownDetails } from '../chat/own-details.ts'
import type { AiSdkVersion, Chunk } from './chunk.ts'

/**
 * The stages of a tool call in the order in which a client needs them: start, input, approval request, approval response,
 * outcome. A stage that has not been reached is missing.
 */
export type Stages = readonly (Chunk | undefined)[]

/** The stage at which the input is complete. */
export const INPUT = 1

export function toolStages(
  tool: ToolItem,
  content: Content,
  { version, isResting }: { readonly version: AiSdkVersion; readonly isResting: boolean },
): Stages {
  const { id: toolCallId, name: toolName, args, executor, approvalId } = tool
  const approval = approvalId === undefined ? undefined : itemIn(content, 'approval', approvalId)
  const title = tool.title ?? (tool.declared === undefined ? approval?.title : undefined)
  const dynamic = tool.declared === 'static' ? {} : { dynamic: true }
  const call = { toolCallId, toolName, ...dynamic, ...(title === undefined ? {} : { title }) }
  // Keeps the client from executing a tool that it cannot know.
  const by = executor === 'server' && tool.declared === undefined ? { providerExecuted: true } : {}
  const start = { type: 'tool-input-start', ...call }
  if (tool.isInvalid === true) return [start, ...invalidStages(tool, call, version)]
  return [
    start,
    isReady(tool, isResting) ? { type: 'tool-input-available', ...call, ...by, input: args ?? {} } : undefined,
    approvalId === undefined ? undefined : requestOf(approvalId, toolCallId, { asked: approval, tool }),
    responseOf(approval, version),
    outcomeOf(tool, tool.declared === 'dynamic' ? { dynamic: true } : {}),
  ]
}

/** A call that no tool takes. Version 6 also shows what the model is told, as an output. */
function invalidStages(
  { id: toolCallId, args, argsText, error, declared }: ToolItem,
  call: object,
  version: AiSdkVersion,
): Stages {
  const errorText = error?.message ?? 'the input is invalid'
  const dynamic = declared === 'static' ? {} : { dynamic: true }
  return [
    { type: 'tool-input-error', ...call, input: args ?? argsText, errorText },
    ...(version === 6 ? [undefined, undefined, { type: 'tool-output-error', toolCallId, errorText, ...dynamic }] : []),
  ]
}

/**
 * Whether the input can be shown. A call that the model has made may still become a call of a client tool, and a client
 * executes its tool as soon as it has the input.
 */
function isReady(tool: ToolItem, isResting: boolean): boolean {
  const { status, executor, approvalId, isOnServer } = tool
  if (status === 'calling') return isResting && 'args' in tool
  return status !== 'called' || executor === 'client' || isOnServer === true || approvalId !== undefined || isResting
}

function outcomeOf(
  { id: toolCallId, status, result, isPreliminary, error }: ToolItem,
  dynamic: { readonly dynamic?: true },
): Chunk | undefined {
  if (status === 'denied') return { type: 'tool-output-denied', toolCallId }
  if (status === 'failed') {
    return { type: 'tool-output-error', toolCallId, errorText: error?.message ?? 'the tool failed', ...dynamic }
  }
  if (isPreliminary === true) {
    return { type: 'tool-output-available', toolCallId, output: result ?? null, preliminary: true, ...dynamic }
  }
  return status === 'done'
    ? { type: 'tool-output-available', toolCallId, output: result ?? null, ...dynamic }
    : undefined
}

/** An approval that no tool call of this run has requested is shown as a tool call of its own. */
export function approvalStages(approval: ApprovalItem, version: AiSdkVersion): Stages {
  const { id, name, title, payload, status, by, reason, answer } = approval
  const call = { toolCallId: id, toolName: `approval.${name}`, dynamic: true, providerExecuted: true }
  const input = { ...(title === undefined ? {} : { title }), ...(payload === undefined ? {} : { payload }) }
  const said = {
    ...(by === undefined ? {} : { by }),
    ...(reason === undefined ? {} : { reason }),
    ...(answer === undefined ? {} : { answer }),
  }
  return [
    { type: 'tool-input-start', ...call },
    { type: 'tool-input-available', ...call, input },
    requestOf(id, id, { asked: approval }),
    responseOf(approval, version),
    status === 'approved'
      ? { type: 'tool-output-available', toolCallId: id, output: { approved: true, ...said } }
      : isOpenApproval(status)
        ? undefined
        : { type: 'tool-output-denied', toolCallId: id },
  ]
}

/** The SDK passes the descriptor on to the page, as `part.approval.descriptor`. */
function requestOf(
  approvalId: string,
  toolCallId: string,
  { asked, tool }: { readonly asked: ApprovalItem | undefined; readonly tool?: ToolItem },
): Chunk {
  const { assignee, isEditable } = asked ?? {}
  const payload = asked === undefined || tool === undefined ? undefined : ownDetails(asked, tool)
  const said = {
    ...(assignee === undefined ? {} : { assignee }),
    ...(isEditable === undefined ? {} : { editable: true }),
    ...(payload === undefined ? {} : { payload }),
  }
  const approvalDescriptor = Object.keys(said).length === 0 ? {} : { approvalDescriptor: said }
  return { type: 'tool-approval-request', approvalId, toolCallId, ...approvalDescriptor }
}

/** Only version 7 has a chunk for the decision. */
function responseOf(approval: ApprovalItem | undefined, version: AiSdkVersion): Chunk | undefined {
  if (approval === undefined || isOpenApproval(approval.status) || version === 6) return undefined
  const { id: approvalId, status, reason = status === 'expired' ? 'the approval expired' : undefined } = approval
  return {
    ...{ type: 'tool-approval-response', approvalId, approved: status === 'approved' },
    ...(reason === undefined ? {} : { reason }),
  }
}

/** The stages of `after` from the first one that differs. */
export function laterStages(before: Stages, after: Stages, canRepeatInput: boolean): readonly Chunk[] {
  const first = after.findIndex((stage, index) => JSON.stringify(stage) !== JSON.stringify(before[index]))
  if (first === -1) return []
  const isTakenBack = after.slice(first).every((stage) => stage === undefined)
  // The start and the input can be repeated only in their own step: elsewhere they would be a second call.
  const from = canRepeatInput ? (isTakenBack ? INPUT : first) : Math.max(first, INPUT + 1)
  return after.slice(from).filter((stage) => stage !== undefined)
}
