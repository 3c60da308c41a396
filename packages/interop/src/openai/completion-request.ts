import type { ChatMessage } from '@perdure/core'
import { isFields } from '@perdure/core'
import { jsonOrText, parseStrictText } from '@perdure/ports'
import type { SentDecision } from '../chat/pass-answers.ts'
import { parseClientCallId } from './client-call-id.ts'
import { hasContent, refuseParts, toParts, toRole } from './messages.ts'
import { invalid, unsupported } from './refusals.ts'
import type { SentAnswers, ToolAnswer } from './sent-answers.ts'

export interface OpenaiMessage {
  readonly role: string
  readonly content?: unknown
  readonly tool_call_id?: string | null | undefined
  readonly tool_calls?: unknown
  readonly [member: string]: unknown
}

/** What Chat Completions sends to an agent. */
export interface CompletionBody {
  readonly model: string
  readonly messages: readonly OpenaiMessage[]
  readonly stream?: boolean | null | undefined
  readonly stream_options?: { readonly include_usage?: boolean | null | undefined } | null | undefined
  readonly metadata?: Readonly<Record<string, string>> | null | undefined
  readonly user?: string | null | undefined
  readonly tools?: readonly { readonly type: string; readonly [member: string]: unknown }[] | null | undefined
  readonly [setting: string]: unknown
}

/** The members that the server handles itself; others are settings of the agent. */
export const COMPLETION_MEMBERS: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'stream', 'stream_options', 'metadata', 'user', 'tools', 'store', 'n'],
])

/** @throws PerdureError `unsupported-parameter`, `validation-failed` */
export function refuseCompletion({ n, logprobs, audio, modalities, functions, tools, messages }: CompletionBody): void {
  if (typeof n === 'number' && n !== 1) throw unsupported('n', 'a run has one answer')
  if (logprobs === true) throw unsupported('logprobs', 'a run has no log probabilities')
  if (isSet(audio) || (Array.isArray(modalities) && modalities.includes('audio'))) {
    throw unsupported(isSet(audio) ? 'audio' : 'modalities', 'a run answers with text')
  }
  if (isSet(functions)) throw unsupported('functions', 'use tools')
  refuseHostedTools(tools)
  for (const [index, { content }] of messages.entries()) refuseParts(content, `messages.${index}.content`)
}

/** @throws PerdureError `unsupported-parameter` for a tool that OpenAI itself would execute */
export function refuseHostedTools(tools: CompletionBody['tools']): void {
  const index = (tools ?? []).findIndex(({ type }) => type !== 'function')
  if (index === -1) return
  const type = String(tools?.[index]?.type).slice(0, 64)
  throw unsupported(`tools.${index}.type`, `${type} is a tool of OpenAI; give the agent a tool of its own`)
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null

/** The messages of the whole chat, or of the part that the server does not know. */
export const completionMessages = (messages: readonly OpenaiMessage[]): readonly ChatMessage[] =>
  messages.map(toChatMessage).filter(hasContent)

function toChatMessage({ role, content, tool_calls: calls, tool_call_id: answers }: OpenaiMessage): ChatMessage {
  const data = Array.isArray(calls) && calls.length > 0 ? [{ type: 'data', data: { toolCalls: calls } } as const] : []
  const answered = typeof answers === 'string' ? [{ type: 'data', data: { toolCallId: answers } } as const] : []
  return { role: toRole(role), content: [...toParts(content), ...data, ...answered] }
}

/** The messages after the last answer. */
export const newMessages = (messages: readonly OpenaiMessage[]): readonly OpenaiMessage[] =>
  messages.slice(messages.findLastIndex(({ role }) => role === 'assistant' || role === 'tool') + 1)

/**
 * What the last messages answer.
 *
 * @throws PerdureError `validation-failed` for an answer to an approval that is no decision
 */
export function answersIn(messages: readonly OpenaiMessage[]): SentAnswers {
  const last = messages.slice(messages.findLastIndex(({ role }) => role !== 'tool') + 1)
  const first = messages.length - last.length
  const answers = last.map((message, index) => answerOf(message, first + index))
  return {
    decisions: answers.flatMap((answer) => ('approvalId' in answer ? [answer] : [])),
    results: answers.flatMap((answer) => ('toolCallId' in answer ? [answer] : [])),
  }
}

function answerOf({ tool_call_id: id, content }: OpenaiMessage, index: number): SentDecision | ToolAnswer {
  const text = toParts(content)
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('')
  if (typeof id !== 'string') throw invalid(`messages.${index}.tool_call_id`, 'is missing')
  if (!/^apr_/.test(id)) {
    const call = parseClientCallId(id)
    if (call === undefined) throw invalid(`messages.${index}.tool_call_id`, 'is not the id of a call of this server')
    return { ...call, result: jsonOrText(text) }
  }
  const { approved, reason } = parsed(text)
  if (typeof approved !== 'boolean') {
    throw invalid(`messages.${index}.content`, 'an approval needs {"approved": true} or {"approved": false}')
  }
  return { approvalId: id, approved, ...(typeof reason === 'string' ? { reason } : {}) }
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = parseStrictText(text)
    return isFields(value) ? value : {}
  } catch {
    return {}
  }
}
