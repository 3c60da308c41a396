import type { MessagePart, SessionMessage, ToolCallOutcome } from '@perdure/core'
import type { ModelMessage } from 'ai'
import { denied, toModelOutput } from '../tools/denied.ts'
import type { Tools } from '../tools/tool.ts'
import type { ConversationOptions } from './conversation-options.ts'

interface Converting {
  readonly tools: Tools
  readonly convertDataPart: ConversationOptions['convertDataPart']
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
  for (const { role, parts } of messages) {
    prompt.push(...(role === 'user' ? questionOf(parts, converting) : await answerOf(parts, converting)))
  }
  return prompt
}

function questionOf(parts: readonly MessagePart[], { convertDataPart }: Converting): ModelMessage[] {
  const content = parts.flatMap((part): readonly Content[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }]
    if (part.type === 'file') return [fileOf(part)]
    if (part.type !== 'data') return []
    const converted = convertDataPart?.({ type: 'data', data: part.data })
    return converted === undefined ? [] : [{ ...converted }]
  })
  return content.length === 0 ? [] : [{ role: 'user', content } as unknown as ModelMessage]
}

async function answerOf(parts: readonly MessagePart[], { tools }: Converting): Promise<ModelMessage[]> {
  const prompt: ModelMessage[] = []
  let said: Content[] = []
  let results: Content[] = []
  const flush = () => {
    if (said.length > 0) prompt.push({ role: 'assistant', content: said } as unknown as ModelMessage)
    if (results.length > 0) prompt.push({ role: 'tool', content: results } as unknown as ModelMessage)
    said = []
    results = []
  }
  for (const part of parts) {
    if (part.type !== 'tool' && results.length > 0) flush()
    if (part.type === 'tool') {
      const { toolCallId, name: toolName, input } = part
      said.push({ type: 'tool-call', toolCallId, toolName, input })
      results.push({ type: 'tool-result', toolCallId, toolName, output: await outputOf(part, tools) })
    } else if (part.type === 'text' && part.isCommentary !== true) said.push({ type: 'text', text: part.text })
    else if (part.type === 'reasoning') said.push({ type: 'reasoning', text: part.text })
    else if (part.type === 'file') said.push(fileOf(part))
  }
  flush()
  return prompt
}

function fileOf({ url, mediaType, name }: Extract<MessagePart, { readonly type: 'file' }>): Content {
  return { type: 'file', data: new URL(url), mediaType, ...(name === undefined ? {} : { filename: name }) }
}

function outputOf({ toolCallId, name, input, outcome }: ToolPart, tools: Tools): unknown {
  const own = Object.hasOwn(tools, name) ? tools[name] : undefined
  const output = toModelOutput(own ?? {})
  if (outcome.status === 'done') return output({ toolCallId, input, output: outcome.result })
  if (outcome.status === 'denied') return output({ toolCallId, input, output: denied(outcome.reason) })
  return { type: 'error-text', value: errorOf(outcome) }
}

const errorOf = (outcome: ToolCallOutcome): string => (outcome.status === 'failed' ? outcome.error : CUT_OFF)
