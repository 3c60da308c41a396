import type { ChatMessage, ChatPart, SentToolResult } from '@perdure/core'
import { type Fields, isFields, textIn } from '@perdure/core'
import { jsonOrText } from '@perdure/ports'
import { type AgUiMessage, shownContent } from './message.ts'

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
  (Array.isArray(content) ? content.filter(isFields) : []).flatMap((part): readonly ChatPart[] => {
    if (part.type === 'text' && typeof part.text === 'string') return [{ type: 'text', text: part.text }]
    const file = part.type === 'binary' ? binaryFile(part) : sourceFile(part)
    return file === undefined ? [] : [{ type: 'file', ...file }]
  })

type SentFile = Pick<Extract<ChatPart, { readonly type: 'file' }>, 'mediaType' | 'url' | 'name'>

const ANY_BYTES = 'application/octet-stream'

/** An image, audio, video or document. Its name is in its metadata, because the protocol has no member for it. */
function sourceFile({ source, metadata }: Fields): SentFile | undefined {
  if (!isFields(source)) return undefined
  const value = textIn(source, 'value')
  if (value === undefined) return undefined
  const mediaType = textIn(source, 'mimeType') ?? ANY_BYTES
  const url = source.type === 'data' ? dataUrl(mediaType, value) : value
  return { mediaType, url, ...named(isFields(metadata) ? metadata : {}) }
}

/** The part of versions before 1.0 for every kind of file. */
function binaryFile(part: Fields): SentFile | undefined {
  const mediaType = textIn(part, 'mimeType') ?? ANY_BYTES
  const data = textIn(part, 'data')
  const url = data === undefined ? (textIn(part, 'url') ?? textIn(part, 'id')) : dataUrl(mediaType, data)
  return url === undefined ? undefined : { mediaType, url, ...named(part) }
}

const dataUrl = (mediaType: string, base64: string): string => `data:${mediaType};base64,${base64}`

function named(fields: Fields): { readonly name?: string } {
  const name = textIn(fields, 'filename')
  return name === undefined ? {} : { name }
}

/** A message of the user as a snapshot shows it. */
export const toAgUiMessage = ({ id, role, content }: ChatMessage, fallbackId: string): AgUiMessage => ({
  ...{ id: id ?? fallbackId, role },
  content: shownContent(content),
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
