import type { ChatMessage, ChatPart, SentToolResult } from '@perdure/core'
import { perdureError } from '@perdure/ports'
import type { UiRole } from '@perdure/protocol'
import type { SentDecision } from '../chat/pass-answers.ts'

export interface UiPart {
  readonly type: string
  readonly [member: string]: unknown
}

/** A message as the AI SDK sends and shows it. */
export interface UiMessage {
  readonly id: string
  readonly role: UiRole
  readonly metadata?: unknown
  readonly parts: readonly UiPart[]
}

export function toChatMessage({ id, role, metadata, parts }: UiMessage): ChatMessage {
  return { id, role, ...(metadata === undefined ? {} : { metadata }), content: parts.flatMap(toChatPart) }
}

const DATA = 'data-'
/** The type of a data part whose sender gave it no name. */
const UNNAMED = 'input'

function toChatPart({ type, text, mediaType, url, filename, id, data }: UiPart): readonly ChatPart[] {
  if (type === 'text' && typeof text === 'string') return [{ type: 'text', text }]
  if (type === 'file' && typeof mediaType === 'string' && typeof url === 'string') {
    return [{ type: 'file', mediaType, url, ...(typeof filename === 'string' ? { name: filename } : {}) }]
  }
  if (!type.startsWith(DATA)) return []
  const name = type.slice(DATA.length)
  return [{ type: 'data', name, ...(typeof id === 'string' ? { id } : {}), data }]
}

export function toUiMessage(message: ChatMessage, id: string): UiMessage {
  const role = message.role === 'assistant' || message.role === 'system' ? message.role : 'user'
  const { metadata } = message
  const parts = message.content.map(toUiPart)
  return { id: message.id ?? id, role, ...(metadata === undefined ? {} : { metadata }), parts }
}

const toUiPart = (part: ChatPart): UiPart =>
  part.type === 'file'
    ? {
        ...{ type: 'file', mediaType: part.mediaType, url: part.url },
        ...(part.name === undefined ? {} : { filename: part.name }),
      }
    : part.type === 'text'
      ? { type: 'text', text: part.text }
      : { type: DATA + (part.name ?? UNNAMED), ...(part.id === undefined ? {} : { id: part.id }), data: part.data }

/** The messages after the last answer: earlier ones are in the transcript, and a client cannot change them. */
export const newMessages = (messages: readonly UiMessage[]): readonly UiMessage[] =>
  messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)

/**
 * The decisions that the message holds. Only `approved: true` approves.
 *
 * @throws PerdureError `validation-failed` for a response whose `approved` is not a boolean
 */
export function decisionsIn({ parts }: UiMessage): readonly SentDecision[] {
  return parts.flatMap(({ state, approval }) => {
    if (state !== 'approval-responded') return []
    const { id, approved, reason } = (approval ?? {}) as Readonly<Record<string, unknown>>
    if (typeof id !== 'string' || typeof approved !== 'boolean') {
      throw perdureError('validation-failed', {
        message: 'body.messages: an approval response needs approval.id and approval.approved, a boolean',
        hint: 'answer with addToolApprovalResponse of the AI SDK',
      })
    }
    return [{ approvalId: id, approved, ...(typeof reason === 'string' ? { reason } : {}) }]
  })
}

/** The results of tools that the page has performed. */
export const toolResultsIn = ({ parts }: UiMessage): readonly SentToolResult[] =>
  parts.flatMap(({ type, state, toolCallId, output, errorText, providerExecuted }): readonly SentToolResult[] => {
    const isTool = type === 'dynamic-tool' || type.startsWith('tool-')
    if (!isTool || typeof toolCallId !== 'string' || providerExecuted === true) return []
    if (state === 'output-error') return [{ toolCallId, error: String(errorText ?? 'the tool failed') }]
    return state === 'output-available' ? [{ toolCallId, result: output ?? null }] : []
  })
