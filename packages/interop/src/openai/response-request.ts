import type { ChatMessage } from '@perdure/core'
import { isFields } from '@perdure/core'
import { jsonOrText } from '@perdure/ports'
import type { SentDecision } from '../chat/pass-answers.ts'
import { parseClientCallId } from './client-call-id.ts'
import type { CompletionBody } from './completion-request.ts'
import { hasContent, toParts, toRole } from './messages.ts'
import { approvalIdIn } from './output-items.ts'
import { invalid } from './refusals.ts'
import type { SentAnswers, ToolAnswer } from './sent-answers.ts'

export interface InputItem {
  readonly type?: string | null | undefined
  readonly role?: string | null | undefined
  readonly content?: unknown
  readonly approval_request_id?: string | null | undefined
  readonly approve?: boolean | null | undefined
  readonly reason?: string | null | undefined
  readonly call_id?: string | null | undefined
  readonly output?: unknown
  readonly [member: string]: unknown
}

/** What a client of Responses sends. */
export interface ResponseBody extends Pick<CompletionBody, 'model' | 'stream' | 'metadata' | 'user' | 'tools'> {
  readonly input: string | readonly InputItem[]
  readonly instructions?: unknown
  readonly background?: boolean | null | undefined
  readonly store?: boolean | null | undefined
  readonly previous_response_id?: string | null | undefined
  readonly conversation?: string | { readonly id: string } | null | undefined
  readonly [setting: string]: unknown
}

/** The members that the server handles itself or that mean nothing here; others are settings of the agent. */
export const RESPONSE_MEMBERS: ReadonlySet<string> = new Set([
  ...['model', 'input', 'instructions', 'stream', 'stream_options', 'background', 'store', 'previous_response_id'],
  ...['conversation', 'metadata', 'user', 'tools', 'include', 'service_tier', 'truncation'],
])

export const conversationOf = ({ conversation }: ResponseBody): string | undefined =>
  typeof conversation === 'string' ? conversation : (conversation?.id ?? undefined)

/** The items as messages. Items of an earlier output that are not messages tell the agent nothing. */
export const inputMessages = (input: ResponseBody['input']): readonly ChatMessage[] =>
  typeof input === 'string'
    ? [{ role: 'user', content: [{ type: 'text', text: input }] }]
    : input.filter(isMessage).map(toChatMessage).filter(hasContent)

const isMessage = ({ type, role }: InputItem): boolean =>
  typeof role === 'string' && (type === undefined || type === null || type === 'message')

const toChatMessage = ({ role, content }: InputItem): ChatMessage => ({
  role: toRole(String(role)),
  content: toParts(content),
})

/** The items after the last one that the server itself has put out. */
export function newInput(input: ResponseBody['input']): ResponseBody['input'] {
  if (typeof input === 'string') return input
  return input.slice(input.findLastIndex((item) => !isNew(item)) + 1)
}

const ANSWERS: readonly unknown[] = ['mcp_approval_response', 'function_call_output']

const isAnswer = ({ type }: InputItem): boolean => ANSWERS.includes(type)

const isNew = (item: InputItem): boolean => isAnswer(item) || (isMessage(item) && item.role !== 'assistant')

/**
 * What the new items answer; empty if they are messages.
 *
 * @throws PerdureError `validation-failed` if they are both, or an answer is malformed
 */
export function answersIn(input: ResponseBody['input'], runId: string | undefined): SentAnswers {
  const items = typeof input === 'string' ? [] : input
  const fresh = newInput(items) as readonly InputItem[]
  const first = items.length - fresh.length
  const answers = fresh.flatMap((item, index) =>
    isAnswer(item) ? [answerOf(item, { index: first + index, runId })] : [],
  )
  if (answers.length > 0 && answers.length < fresh.length) {
    throw invalid('input', 'send answers to approvals and function calls without messages')
  }
  return {
    decisions: answers.flatMap((answer) => ('approvalId' in answer ? [answer] : [])),
    results: answers.flatMap((answer) => ('toolCallId' in answer ? [answer] : [])),
  }
}

interface Place {
  readonly index: number
  /** The run of the response that is answered. */
  readonly runId: string | undefined
}

function answerOf(item: InputItem, { index, runId }: Place): SentDecision | ToolAnswer {
  const { type, approval_request_id: requestId, approve, reason, call_id: callId, output } = item
  if (type === 'function_call_output') {
    if (typeof callId !== 'string') throw invalid(`input.${index}.call_id`, 'is missing')
    const named = parseClientCallId(callId)
    if (named === undefined && runId === undefined) {
      throw invalid(`input.${index}.call_id`, 'the request needs previous_response_id')
    }
    return { ...(named ?? { runId: runId ?? '', toolCallId: callId }), result: jsonOrText(textOfOutput(output)) }
  }
  if (typeof requestId !== 'string') throw invalid(`input.${index}.approval_request_id`, 'is missing')
  if (typeof approve !== 'boolean') throw invalid(`input.${index}.approve`, 'must be true or false')
  const approvalId = approvalIdIn(requestId)
  return { approvalId, approved: approve, ...(typeof reason === 'string' ? { reason } : {}) }
}

const textOfOutput = (output: unknown): string =>
  typeof output === 'string'
    ? output
    : (Array.isArray(output) ? output.filter(isFields) : [])
        .flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
        .join('')
