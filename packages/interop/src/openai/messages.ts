import type { ChatMessage, ChatPart, ChatTool } from '@perdure/core'
import { type Fields, fileIdOf, isFields, textIn } from '@perdure/core'
import { chatTools } from '../chat/chat-input.ts'
import { invalid, unsupported } from './refusals.ts'

/** The content of a message: a text, or parts as Chat Completions and Responses write them. */
export function toParts(content: unknown): readonly ChatPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return (Array.isArray(content) ? content.filter(isFields) : []).flatMap(toPart)
}

const TEXTS: readonly unknown[] = ['text', 'input_text', 'output_text']

function toPart(part: Fields): readonly ChatPart[] {
  const { type } = part
  const text = textIn(part, 'text') ?? textIn(part, 'refusal')
  if (TEXTS.includes(type) || type === 'refusal') return text === undefined ? [] : [{ type: 'text', text }]
  const file = fileOf(part)
  return file === undefined ? [] : [file]
}

/**
 * Refuses the parts of a content that the agent could not get: audio, files that OpenAI would store, and files whose data
 * lacks its media type.
 *
 * @param param the member of the body, as `messages.0.content`
 * @throws PerdureError `unsupported-parameter`, `validation-failed`
 */
export function refuseParts(content: unknown, param: string): void {
  for (const [index, part] of (Array.isArray(content) ? content : []).entries()) {
    if (!isFields(part)) continue
    if (part.type === 'input_audio') throw unsupported(`${param}.${index}.type`, 'an agent gets no audio')
    if (FILES.includes(part.type)) refuseFile(part, `${param}.${index}`)
  }
}

function refuseFile(part: Fields, param: string): void {
  if (fileOf(part) === undefined) {
    throw unsupported(param, 'the server stores no files; send the data or a URL of the file')
  }
  const { file } = part
  const data = textIn(isFields(file) ? file : part, 'file_data')
  if (data === undefined || isUrl(data)) return
  const member = isFields(file) ? 'file.file_data' : 'file_data'
  throw invalid(`${param}.${member}`, 'must be a data: URL, such as data:application/pdf;base64,…')
}

const isUrl = (text: string): boolean => URL.canParse(text) || fileIdOf(text) !== undefined

const FILES: readonly unknown[] = ['image_url', 'file', 'input_image', 'input_file']

/** An image or a file: `image_url` and `file` of Chat Completions, `input_image` and `input_file` of Responses. */
function fileOf(part: Fields): ChatPart | undefined {
  const { image_url: image, file } = part
  const members = isFields(file) ? file : part
  const imageUrl = isFields(image) ? textIn(image, 'url') : typeof image === 'string' ? image : undefined
  const url = imageUrl ?? textIn(members, 'file_data') ?? textIn(members, 'file_url')
  if (url === undefined) return undefined
  const name = textIn(members, 'filename')
  const mediaType = /^data:([^;,]{1,128})[;,]/.exec(url)?.[1] ?? (imageUrl === undefined ? FILE : IMAGE)
  return { type: 'file', mediaType, url, ...(name === undefined ? {} : { name }) }
}

const FILE = 'application/octet-stream'
const IMAGE = 'image/*'

/** `developer` is what newer models call `system`. */
export function toRole(role: string): ChatMessage['role'] {
  return role === 'assistant' || role === 'user' || role === 'tool' ? role : 'system'
}

/** A message without content, such as an assistant message that only calls tools, tells the agent nothing. */
export const hasContent = ({ content }: ChatMessage): boolean => content.length > 0

/** The functions that the client offers: inside `function` in Chat Completions, and directly in Responses. */
export const functionsIn = (tools: readonly object[] | null | undefined): readonly ChatTool[] =>
  chatTools((tools ?? []).map((tool) => ('function' in tool ? tool.function : tool)))

/** The members of a request that the application chose, for the agent. */
export const settingsOf = (body: object, known: ReadonlySet<string>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(body).filter(([member, value]) => !known.has(member) && value !== null && value !== undefined),
  )
