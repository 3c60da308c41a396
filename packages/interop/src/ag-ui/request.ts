import type { ChatMessage, ChatPart, SentToolResult } from '@perdure/core'
import { isFields } from '@perdure/core'
import { jsonOrText } from '@perdure/ports'
import type { AgUiMessage } from './message.ts'

export interface AgUiResume {
  readonly interruptId: string
  readonly status: 'resolved' | 'cancelled'
  readonly payload?: unknown
}

/** What an AG-UI client sends to run an agent. */
export interface AgUiRequestBody {
  readonly threadId: string
  readonly runId: string
  readonly messages: readonly AgUiMessage[]
  readonly protocolVersion?: string | undefined
  readonly state?: unknown
  readonly tools?: readonly unknown[] | undefined
  readonly context?: readonly unknown[] | undefined
  readonly forwardedProps?: unknown
  readonly resume?: readonly AgUiResume[] | undefined
}

const USER_ROLES: readonly string[] = ['user', 'system', 'developer']

/** The messages after the last answer. */
export const newMessages = (messages: readonly AgUiMessage[]): readonly AgUiMessage[] =>
  messages.slice(messages.findLastIndex(({ role }) => !USER_ROLES.includes(role)) + 1)

/** The messages of the thread up to the last one of the user; the later ones belong to the run that answers. */
export const asked = (messages: readonly AgUiMessage[]): readonly AgUiMessage[] =>
  messages.slice(0, messages.findLastIndex(({ role }) => USER_ROLES.includes(role)) + 1)

export const toChatMessage = ({ id, role, content }: AgUiMessage): ChatMessage => ({
  id,
  role: role === 'user' ? 'user' : 'system',
  content: typeof content === 'string' ? [{ type: 'text', text: content }] : partsOf(content),
})

const partsOf = (content: unknown): readonly ChatPart[] =>
  (Array.isArray(content) ? content.filter(isFields) : []).flatMap(({ type, text, source }): readonly ChatPart[] => {
    if (type === 'text' && typeof text === 'string') return [{ type: 'text', text }]
    if (!isFields(source) || typeof source.value !== 'string') return []
    const mediaType = typeof source.mimeType === 'string' ? source.mimeType : 'application/octet-stream'
    const url = source.type === 'data' ? `data:${mediaType};base64,${source.value}` : source.value
    return [{ type: 'file', mediaType, url }]
  })

/** A message of the user as a snapshot shows it. */
export const toAgUiMessage = ({ id, role, content }: ChatMessage, fallbackId: string): AgUiMessage => ({
  ...{ id: id ?? fallbackId, role },
  content: content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n'),
})

/** The results of tools that the client has performed since the last message of the user. */
export const toolResultsIn = (messages: readonly AgUiMessage[]): readonly SentToolResult[] =>
  messages.slice(messages.findLastIndex(({ role }) => USER_ROLES.includes(role)) + 1).flatMap(toToolResult)

function toToolResult({ role, toolCallId, content, error }: AgUiMessage): readonly SentToolResult[] {
  if (role !== 'tool' || typeof toolCallId !== 'string') return []
  if (typeof error === 'string' && error !== '') return [{ toolCallId, error }]
  return [{ toolCallId, result: parsed(content) }]
}

/** A result is text; JSON in it is the value. */
function parsed(content: unknown): unknown {
  return typeof content === 'string' ? jsonOrText(content) : (content ?? null)
}
