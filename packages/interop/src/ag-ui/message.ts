import type {
  ChatPart,
  MessageItem,
  MessagePart,
  ReasoningItem,
  TextItem,
  ToolItem,
  UserMessageItem,
} from '@perdure/core'
import { isFields, partsOfInput } from '@perdure/core'
import { messagesIn } from '../chat/chat-input.ts'

/** A message as AG-UI clients hold it. */
export interface AgUiMessage {
  readonly id: string
  readonly role: string
  readonly [member: string]: unknown
}

/** The items that are messages of the client. */
export type SaidItem = TextItem | ReasoningItem | ToolItem | MessageItem | UserMessageItem

export const reasoningId = ({ id }: { readonly id: string }): string => `reasoning.${id}`

export const resultId = ({ id }: { readonly id: string }): string => `${id}.r`

/** The messages that the item is shown as. A call whose arguments are not complete is not yet a message. */
export function messagesOf(item: SaidItem): readonly AgUiMessage[] {
  switch (item.kind) {
    case 'text':
      return [{ id: item.id, role: 'assistant', content: item.text }]
    case 'reasoning':
      return [{ id: reasoningId(item), role: 'reasoning', content: item.text }]
    case 'user-message':
      return [userMessage(item)]
    case 'message':
      return [{ id: `message.${item.id}`, role: 'assistant', content: textIn(item) }]
    default:
      return item.status === 'calling' ? [] : toolMessages(item)
  }
}

export const userMessage = ({ id, content }: UserMessageItem) => ({
  id: messagesIn(content)[0]?.id ?? `user.${id}`,
  ...{ role: 'user', content: shownContent(partsOfInput(content)) },
})

type Shown = ChatPart | MessagePart

/** The content of a message of the user: its text, or its parts if files are among them. */
export function shownContent(parts: readonly Shown[]): string | readonly object[] {
  if (!parts.some(({ type }) => type === 'file')) return shownText(parts)
  return parts.flatMap((part): readonly object[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }]
    if (part.type !== 'file') return []
    const { url, mediaType, name } = part
    const source = { type: 'url', value: url, mimeType: mediaType }
    return [{ type: fileType(mediaType), source, ...(name === undefined ? {} : { metadata: { filename: name } }) }]
  })
}

export const shownText = (parts: readonly Shown[]): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')

const fileType = (mediaType: string): string => /^(image|audio|video)\//.exec(mediaType)?.[1] ?? 'document'

function toolMessages(tool: ToolItem): readonly AgUiMessage[] {
  const { id, name, argsText } = tool
  const call = { id, type: 'function', function: { name, arguments: argsText === '' ? '{}' : argsText } }
  const content = resultOf(tool)
  return [
    { id, role: 'assistant', toolCalls: [call] },
    ...(content === undefined ? [] : [{ id: resultId(tool), role: 'tool', toolCallId: id, content, ...failure(tool) }]),
  ]
}

/** How a message and an event tell that the call has failed. */
export const failure = ({ status }: ToolItem): object => (status === 'done' ? {} : { metadata: { error: true } })

/** The outcome of a call as text; `undefined` while there is none. */
export function resultOf({ status, result, error, isPreliminary }: ToolItem): string | undefined {
  if (status === 'failed' || status === 'denied') {
    const { kind = 'execution_failed', message = 'the tool failed' } = error ?? {}
    return JSON.stringify({ error: { kind, message } })
  }
  if (status !== 'done' || isPreliminary === true) return undefined
  return typeof result === 'string' ? result : JSON.stringify(result ?? null)
}

export const textIn = ({ message }: MessageItem): string =>
  (isFields(message) && Array.isArray(message.content) ? message.content.filter(isFields) : [])
    .flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []))
    .join('\n\n')
