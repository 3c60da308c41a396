import type {
  FileItem,
  MessageItem,
  ReasoningItem,
  SourceItem,
  TextItem,
  TranscriptItem,
  UserMessageItem,
} from '@perdure/core'
import { isFields, partsOfInput } from '@perdure/core'
import { messagesIn } from '../chat/chat-input.ts'
import type { AiSdkVersion, Chunk } from './chunk.ts'

/** The chunks that open a block, say its text and close it, as far as `before` has not shown them. */
export function blockChunks(
  before: TextItem | ReasoningItem | undefined,
  { kind, id, text, isOpen }: TextItem | ReasoningItem,
  delta?: string,
): readonly Chunk[] {
  const added = delta ?? text.slice(before?.text.length ?? 0)
  return [
    ...(before === undefined ? [{ type: `${kind}-start`, id }] : []),
    ...(added === '' ? [] : [{ type: `${kind}-delta`, id, delta: added }]),
    ...(isOpen || before?.isOpen === false ? [] : [{ type: `${kind}-end`, id }]),
  ]
}

/** The part that an item is shown as; `undefined` for an item that has several chunks or none. */
export function partChunk(item: TranscriptItem): Chunk | undefined {
  switch (item.kind) {
    case 'source':
      return sourceChunk(item)
    case 'file':
      return fileChunk(item)
    case 'data':
      return { type: `data-${item.name}`, id: item.id, data: item.data }
    case 'custom':
      return { type: `data-${item.type}`, id: item.id, data: item.payload ?? null }
    case 'child':
      return { type: 'data-run.child', id: item.id, data: { agentId: item.agentId, status: item.status ?? 'running' } }
    default:
      return undefined
  }
}

function sourceChunk({ id, url, title, mediaType, filename }: SourceItem): Chunk {
  if (url !== undefined) return { type: 'source-url', sourceId: id, url, ...(title === undefined ? {} : { title }) }
  return {
    ...{ type: 'source-document', sourceId: id, mediaType: mediaType ?? 'application/octet-stream' },
    title: title ?? filename ?? id,
    ...(filename === undefined ? {} : { filename }),
  }
}

function fileChunk({ url, data, mediaType }: Pick<FileItem, 'url' | 'data' | 'mediaType'>): Chunk | undefined {
  const address = url ?? (data === undefined ? undefined : `data:${mediaType};base64,${data}`)
  return address === undefined ? undefined : { type: 'file', url: address, mediaType }
}

/** A message that the user has sent while the run worked. Other versions than the newest have no part for it. */
export function userMessageChunk({ id, content }: UserMessageItem, version: AiSdkVersion): Chunk {
  const parts = partsOfInput(content).flatMap((part): readonly object[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }]
    if (part.type !== 'file') return []
    const { name: filename, url, mediaType } = part
    return [{ type: 'file', url, mediaType, ...(filename === undefined ? {} : { filename }) }]
  })
  return version === 7
    ? { type: 'steering-message', id: sentId(content) ?? id, parts }
    : { type: 'data-perdure-message', id: sentId(content) ?? id, data: { parts } }
}

const sentId = (content: unknown): string | undefined => messagesIn(content)[0]?.id

/** A whole message: its text as one block, its files and data as parts. */
export function messageChunks({ id, message }: MessageItem): readonly Chunk[] {
  const content = isFields(message) && Array.isArray(message.content) ? message.content.filter(isFields) : []
  const text = content.flatMap((part) => (part.type === 'text' && typeof part.text === 'string' ? [part.text] : []))
  const others = content.flatMap((part, index): readonly Chunk[] => {
    if (part.type === 'data') return [{ type: 'data-message', id: `${id}.${index}`, data: part.data ?? null }]
    if (part.type !== 'file' || typeof part.mediaType !== 'string') return []
    const { url, data, mediaType } = part
    const chunk = fileChunk({
      mediaType,
      ...(typeof url === 'string' ? { url } : {}),
      ...(typeof data === 'string' ? { data } : {}),
    })
    return chunk === undefined ? [] : [chunk]
  })
  if (text.length === 0) return others
  const block = { kind: 'text', id: `message.${id}`, text: text.join('\n\n'), isOpen: false } as TextItem
  return [...blockChunks(undefined, block), ...others]
}
