import { fileIdOf, type MessagePart, type SessionMessage } from '@perdure/core'
import type { ModelMessage } from 'ai'
import { denied, toModelOutput } from '../tools/denied.ts'
import { editNote, withEdit } from '../tools/edited.ts'
import type { FailureText } from '../tools/failure-text.ts'
import type { Tools } from '../tools/tool.ts'
import type { ConversationOptions } from './conversation-options.ts'
import type { ReadFile } from './read-file.ts'
import { restoredPrompt, unreadable } from './stored-prompt.ts'

interface Converting {
  readonly tools: Tools
  readonly convertDataPart: ConversationOptions['convertDataPart']
  /** Reads a file that the server stores. */
  readonly readFile: ReadFile
  /** Makes the URL of a file of another server. */
  readonly linkTo: (url: string) => URL
  /** Not called for messages of users. */
  readonly failureText: FailureText
}

type ToolPart = Extract<MessagePart, { readonly type: 'tool' }>
type Content = Readonly<Record<string, unknown>>

/** What the model is told about a call whose turn ended, or is still working, before it had a result. */
const CUT_OFF = 'The call was cut off before it had a result.'

/** A conversation as a prompt, in which the results of tool calls follow the message that made the calls. */
export async function toModelMessages(
  messages: readonly SessionMessage[],
  converting: Converting,
): Promise<ModelMessage[]> {
  const prompt: ModelMessage[] = []
  for (const message of messages) prompt.push(...(await promptOf(message, converting)))
  return prompt
}

async function promptOf({ role, parts, content }: SessionMessage, converting: Converting): Promise<ModelMessage[]> {
  if (role === 'assistant') return answerOf(parts, converting)
  if (role === 'summary' && Array.isArray(content)) return restoredPrompt(content, converting.readFile)
  return questionOf(parts, converting)
}

async function questionOf(parts: readonly MessagePart[], converting: Converting): Promise<ModelMessage[]> {
  const content: Content[] = []
  for (const part of parts) {
    if (part.type === 'text') content.push({ type: 'text', text: part.text })
    else if (part.type === 'file') content.push(await fileOf(part, converting))
    else if (part.type === 'data') {
      const converted = converting.convertDataPart?.({ type: 'data', name: part.name, data: part.data })
      if (converted !== undefined) content.push({ ...converted })
    }
  }
  return content.length === 0 ? [] : [{ role: 'user', content } as unknown as ModelMessage]
}

async function answerOf(parts: readonly MessagePart[], converting: Converting): Promise<ModelMessage[]> {
  const prompt: ModelMessage[] = []
  let said: Content[] = []
  let results: Content[] = []
  const flush = () => {
    if (said.length > 0) prompt.push({ role: 'assistant', content: said } as unknown as ModelMessage)
    if (results.length > 0) prompt.push({ role: 'tool', content: results } as unknown as ModelMessage)
    said = []
    results = []
  }
  const isDivided = parts.some(({ startsAnswer }) => startsAnswer === true)
  for (const part of parts) {
    const isNext = isDivided ? part.startsAnswer === true : part.type !== 'tool'
    if (isNext && results.length > 0) flush()
    if (part.type === 'tool') {
      const { toolCallId, name: toolName, input } = part
      said.push({ type: 'tool-call', toolCallId, toolName, input })
      results.push({ type: 'tool-result', toolCallId, toolName, output: await outputOf(part, converting) })
    } else if (part.type === 'text' && part.isCommentary !== true) said.push({ type: 'text', text: part.text })
    else if (part.type === 'reasoning') said.push({ type: 'reasoning', text: part.text })
    else if (part.type === 'file') said.push(await fileOf(part, converting))
  }
  flush()
  return prompt
}

type FilePart = Extract<MessagePart, { readonly type: 'file' }>

/** The model gets the bytes of a stored file, because no provider can load it without the token of its owner. */
async function fileOf({ url, mediaType, name }: FilePart, { readFile, linkTo }: Converting): Promise<Content> {
  if (fileIdOf(url) === undefined && !URL.canParse(url)) return unreadable(url)
  const data = fileIdOf(url) === undefined ? linkTo(url) : await readFile(url)
  if (data === undefined) return unreadable(url)
  return { type: 'file', data, mediaType, ...(name === undefined ? {} : { filename: name }) }
}

async function outputOf(
  { toolCallId, name, input, editedInput, outcome }: ToolPart,
  { tools, failureText }: Converting,
): Promise<unknown> {
  const own = Object.hasOwn(tools, name) ? tools[name] : undefined
  const output = toModelOutput(own ?? {})
  if (outcome.status === 'done') {
    const given = await output({ toolCallId, input, output: outcome.result })
    return editedInput === undefined ? given : withEdit(given, editedInput)
  }
  if (outcome.status === 'denied') return output({ toolCallId, input, output: denied(outcome.reason) })
  if (outcome.status !== 'failed') return { type: 'error-text', value: CUT_OFF }
  const error = editedInput === undefined ? outcome.error : `${editNote(editedInput)} ${outcome.error}`
  return { type: 'error-text', value: failureText({ ...outcome, error }) }
}
