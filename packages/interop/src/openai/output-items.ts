import type { ApprovalItem, MessageItem, ReasoningItem, TextItem, ToolItem } from '@perdure/core'
import { isFields } from '@perdure/core'
import { ownDetails } from '../chat/own-details.ts'

/** An item of the output of a response. Its other members depend on its type. */
export interface OutputItem {
  readonly id: string
  readonly type: string
  readonly [member: string]: unknown
}

/** An event of a response without its number and the place of its item. */
export interface ItemEvent {
  readonly type: string
  readonly [member: string]: unknown
}

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed'

/** The server that executes the tools of an agent, for clients that show where a tool belongs. */
const SERVER_LABEL = 'perdure'

export function messageItem(
  id: string,
  { text, phase }: Pick<TextItem, 'text'> & Partial<Pick<TextItem, 'phase'>>,
  status: ItemStatus,
): OutputItem {
  const content = status === 'in_progress' ? [] : [textPart(text)]
  return { id, type: 'message', status, role: 'assistant', content, phase: phase ?? 'final_answer' }
}

const textPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] })

export function reasoningItem(
  id: string,
  { text, encrypted }: Pick<ReasoningItem, 'text' | 'encrypted'>,
  status: ItemStatus,
): OutputItem {
  return {
    ...{ id, type: 'reasoning', status },
    summary: status === 'in_progress' ? [] : [{ type: 'summary_text', text }],
    ...(encrypted === undefined ? {} : { encrypted_content: encrypted }),
  }
}

/** A call of a tool that the server executes. As a `function_call`, clients would execute it too. */
export function mcpCallItem(id: string, tool: ToolItem, status: ItemStatus): OutputItem {
  const { name, approvalId, result, error } = tool
  const isDone = status === 'completed'
  return {
    ...{ id, type: 'mcp_call', server_label: SERVER_LABEL, name, status },
    arguments: status === 'in_progress' ? '' : argumentsOf(tool),
    approval_request_id: approvalId === undefined ? null : approvalRequestId(approvalId),
    output: isDone ? valueText(result) : null,
    error: status === 'failed' ? { type: 'mcp_tool_execution_error', content: errorText(error) } : null,
  }
}

/** A call of a tool that the client executes. */
export const functionCallItem = (tool: ToolItem, status: ItemStatus): OutputItem => ({
  ...{ id: `fc_${tool.id}`, type: 'function_call', call_id: tool.id, name: tool.name, status },
  arguments: status === 'in_progress' ? '' : argumentsOf(tool),
})

export function approvalRequestItem(approval: ApprovalItem, tool: ToolItem | undefined): OutputItem {
  const { id, name, title, payload } = approval
  const details = tool === undefined ? payload : ownDetails(approval, tool)
  const asked =
    tool !== undefined && details === undefined
      ? argumentsOf(tool)
      : JSON.stringify({ title, payload: details, ...(tool === undefined ? {} : { arguments: tool.args }) })
  return {
    ...{ id: approvalRequestId(id), type: 'mcp_approval_request', server_label: SERVER_LABEL },
    ...{ name: tool?.name ?? name, arguments: asked },
  }
}

export const approvalRequestId = (approvalId: string): string => `mcpr_${approvalId}`

export const approvalIdIn = (requestId: string): string => requestId.replace(/^mcpr_/, '')

export const argumentsOf = ({ args, argsText }: Pick<ToolItem, 'args' | 'argsText'>): string =>
  args === undefined ? (argsText === '' ? '{}' : argsText) : JSON.stringify(args)

export const valueText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null))

const errorText = (error: ToolItem['error']): string => error?.message ?? 'the tool failed'

/** The text of a message that was said as a whole. */
export function textOfMessage({ message }: MessageItem): string {
  const content = isFields(message) && Array.isArray(message.content) ? message.content.filter(isFields) : []
  return content.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : [])).join('\n\n')
}

/** How a server tool ended; `undefined` while it has not. */
export function toolOutcome({ status, isPreliminary }: ToolItem): 'completed' | 'failed' | undefined {
  if (status === 'failed' || status === 'denied') return 'failed'
  return status === 'done' && isPreliminary !== true ? 'completed' : undefined
}

/** The events between the first and the last one of a text message. `from`: how much the client has of the text. */
export const textEvents = {
  begin: (item_id: string): readonly ItemEvent[] => [
    { type: 'response.content_part.added', item_id, content_index: 0, part: textPart('') },
  ],
  delta: (item_id: string, delta: string): ItemEvent => ({
    ...{ type: 'response.output_text.delta', item_id, content_index: 0, delta, logprobs: [] },
  }),
  end: (item_id: string, text: string): readonly ItemEvent[] => [
    { type: 'response.output_text.done', item_id, content_index: 0, text, logprobs: [] },
    { type: 'response.content_part.done', item_id, content_index: 0, part: textPart(text) },
  ],
}

export const reasoningEvents = {
  begin: (item_id: string): readonly ItemEvent[] => [
    { type: 'response.reasoning_summary_part.added', item_id, summary_index: 0, part: summaryPart('') },
  ],
  delta: (item_id: string, delta: string): ItemEvent => ({
    ...{ type: 'response.reasoning_summary_text.delta', item_id, summary_index: 0, delta },
  }),
  end: (item_id: string, text: string): readonly ItemEvent[] => [
    { type: 'response.reasoning_summary_text.done', item_id, summary_index: 0, text },
    { type: 'response.reasoning_summary_part.done', item_id, summary_index: 0, part: summaryPart(text) },
  ],
}

const summaryPart = (text: string) => ({ type: 'summary_text', text })
