import type {
  ChildItem,
  MessageItem,
  ReasoningItem,
  TextItem,
  ToolItem,
  TranscriptItem,
  UserMessageItem,
} from '@perdure/core'
import { isFields, type LogEvent, partsOfInput } from '@perdure/core'
import { failure, reasoningId, resultId, resultOf, shownText, textIn, userMessage } from './message.ts'

/** An event of AG-UI without its timestamp. */
export interface AgUiEvent {
  readonly type: string
  readonly [member: string]: unknown
}

/** Blocks, calls, steps and children that are open in the response. Each must be closed before the response ends. */
export interface Open {
  readonly text: Set<string>
  readonly reasoning: Set<string>
  readonly calls: Set<string>
  /** The names of open steps, by the number of the durable call. */
  readonly steps: Map<number, string>
  readonly children: Set<string>
  /** The children that have ended in this response; a client refuses to see them start again. */
  readonly ended: Set<string>
}

export const nothingOpen = (): Open => ({
  ...{ text: new Set(), reasoning: new Set(), calls: new Set() },
  ...{ steps: new Map(), children: new Set(), ended: new Set() },
})

export function textEvents(before: TextItem | undefined, after: TextItem, open: Open, delta?: string): AgUiEvent[] {
  const { id: messageId, phase, text, isOpen } = after
  const events: AgUiEvent[] = []
  const said = delta ?? text.slice(before?.text.length ?? 0)
  const isNeeded = before === undefined || said !== ''
  if (isNeeded && !open.text.has(messageId)) {
    open.text.add(messageId)
    const metadata = phase === undefined ? {} : { metadata: { phase } }
    events.push({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant', ...metadata })
  }
  if (said !== '') events.push({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta: said })
  if (!isOpen && open.text.delete(messageId)) events.push({ type: 'TEXT_MESSAGE_END', messageId })
  return events
}

export function reasoningEvents(
  before: ReasoningItem | undefined,
  after: ReasoningItem,
  open: Open,
  delta?: string,
): AgUiEvent[] {
  const messageId = reasoningId(after)
  const events: AgUiEvent[] = []
  const said = delta ?? after.text.slice(before?.text.length ?? 0)
  if ((before === undefined || said !== '') && !open.reasoning.has(messageId)) {
    open.reasoning.add(messageId)
    events.push({ type: 'REASONING_START', messageId })
    events.push({ type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' })
  }
  if (said !== '') events.push({ type: 'REASONING_MESSAGE_CONTENT', messageId, delta: said })
  if (!after.isOpen && open.reasoning.delete(messageId)) {
    events.push({ type: 'REASONING_MESSAGE_END', messageId }, { type: 'REASONING_END', messageId })
    const { encrypted } = after
    if (encrypted !== undefined) {
      events.push({
        ...{ type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId: messageId, encryptedValue: encrypted },
      })
    }
  }
  return events
}

export function toolEvents(before: ToolItem | undefined, after: ToolItem, open: Open): AgUiEvent[] {
  const { id: toolCallId, name: toolCallName, argsText, status } = after
  const events: AgUiEvent[] = []
  const isNew = before === undefined || (status === 'calling' && !open.calls.has(toolCallId))
  const shown = isNew ? '' : before.argsText
  if (isNew) {
    open.calls.add(toolCallId)
    events.push({ type: 'TOOL_CALL_START', toolCallId, toolCallName })
  }
  const isOpen = open.calls.has(toolCallId)
  const delta = argsText.startsWith(shown) ? argsText.slice(shown.length) : argsText
  if (isOpen && delta !== '') events.push({ type: 'TOOL_CALL_ARGS', toolCallId, delta })
  if (isOpen && status !== 'calling') {
    open.calls.delete(toolCallId)
    if (argsText === '') events.push({ type: 'TOOL_CALL_ARGS', toolCallId, delta: '{}' })
    events.push({ type: 'TOOL_CALL_END', toolCallId })
  }
  const content = resultOf(after)
  if (content !== undefined && (before === undefined || resultOf(before) === undefined)) {
    events.push({
      type: 'TOOL_CALL_RESULT',
      messageId: resultId(after),
      toolCallId,
      content,
      role: 'tool',
      ...failure(after),
    })
  }
  return events
}

export function messageEvents(item: MessageItem): AgUiEvent[] {
  const messageId = `message.${item.id}`
  const delta = textIn(item)
  return [
    { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
    ...(delta === '' ? [] : [{ type: 'TEXT_MESSAGE_CONTENT', messageId, delta }]),
    { type: 'TEXT_MESSAGE_END', messageId },
  ]
}

export function userMessageEvents(item: UserMessageItem): AgUiEvent[] {
  const { id: messageId, role } = userMessage(item)
  const delta = shownText(partsOfInput(item.content))
  return [
    { type: 'TEXT_MESSAGE_START', messageId, role },
    ...(delta === '' ? [] : [{ type: 'TEXT_MESSAGE_CONTENT', messageId, delta }]),
    { type: 'TEXT_MESSAGE_END', messageId },
  ]
}

export function childEvents({ id: subagentRunId, agentId: name, status }: ChildItem, open: Open): AgUiEvent[] {
  const events: AgUiEvent[] = []
  if (open.ended.has(subagentRunId)) return events
  if (!open.children.has(subagentRunId)) {
    open.children.add(subagentRunId)
    events.push({ type: 'SUBAGENT_STARTED', subagentRunId, name })
  }
  if (status === undefined) return events
  open.children.delete(subagentRunId)
  open.ended.add(subagentRunId)
  if (status === 'completed') events.push({ type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type: 'success' } })
  else events.push({ type: 'SUBAGENT_ERROR', subagentRunId, message: `the run ended as ${status}`, code: status })
  return events
}

/** What AG-UI has no event for. */
export function customEvent(item: TranscriptItem): AgUiEvent | undefined {
  const { kind: _, id: __, ...value } = item
  if (item.kind === 'source' || item.kind === 'file') return { type: 'CUSTOM', name: item.kind, value }
  if (item.kind === 'data') return { type: 'CUSTOM', name: item.name, value: item.data ?? null }
  return item.kind === 'custom' ? { type: 'CUSTOM', name: item.type, value: item.payload ?? null } : undefined
}

/** Closes everything that is open. */
export function closingEvents(open: Open): AgUiEvent[] {
  return [
    ...[...open.text].map((messageId) => ({ type: 'TEXT_MESSAGE_END', messageId })),
    ...[...open.reasoning].flatMap((messageId) => [
      { type: 'REASONING_MESSAGE_END', messageId },
      { type: 'REASONING_END', messageId },
    ]),
    ...[...open.calls].map((toolCallId) => ({ type: 'TOOL_CALL_END', toolCallId })),
    ...[...open.steps.values()].map((stepName) => ({ type: 'STEP_FINISHED', stepName })),
    ...[...open.children].map((subagentRunId) => ({
      ...{ type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type: 'suspended' } },
    })),
  ]
}

/** What an event shows that is not in the transcript. */
export function otherEvents({ type, payload }: LogEvent): readonly AgUiEvent[] {
  const fields = isFields(payload) ? payload : {}
  if (type === 'part.data' && fields.transient === true && typeof fields.name === 'string') {
    return [{ type: 'CUSTOM', name: fields.name, value: fields.data ?? null }]
  }
  if (type !== 'approval.resolved' && type !== 'approval.expired') return []
  const { approvalId, by, reason, decision } = fields
  const approved = type === 'approval.resolved' && decision === 'approved'
  return [{ type: 'CUSTOM', name: 'perdure.decision', value: { approvalId, approved, by, reason } }]
}
