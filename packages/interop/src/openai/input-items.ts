import type { ChatMessage } from '@perdure/core'
import { fieldsOf, type LogEvent } from '@perdure/core'
import { fromJsonText, type ListedRun } from '@perdure/ports'
import { messagesIn } from '../chat/chat-input.ts'
import { beginLog, type RunLogDeps, readLog } from '../chat/run-log.ts'
import { approvalRequestId, type OutputItem, valueText } from './output-items.ts'
import { ANSWERS, createSegments } from './segments.ts'

/** The messages that started a run, as items. */
export const inputItems = ({ id, input }: Pick<ListedRun, 'id' | 'input'>): readonly OutputItem[] =>
  messageItems(`msg_${id}.input`, fromJsonText(input))

/**
 * Collects what the clients have answered to the questions of a run, by the segment that begins with the answer, and the messages
 * that the run has received while it worked.
 */
export interface AnswerItems {
  /** @param begins whether a segment begins with the event @param segment the segment to which it belongs */
  next(event: LogEvent, begins: boolean, segment: number): void
  of(segment: number): readonly OutputItem[]
}

export function createAnswerItems(): AnswerItems {
  const answers = new Map<number, OutputItem[]>()
  let isAnswered = false
  return {
    next(event, begins, segment) {
      if (begins) isAnswered = true
      else if (!ANSWERS.has(event.type)) isAnswered = false
      if (!isAnswered && event.type !== 'run.message') return
      const items = answers.get(segment) ?? []
      items.push(...itemsOf(event))
      answers.set(segment, items)
    },
    of: (segment) => answers.get(segment) ?? [],
  }
}

/** The answers with which a segment of the run begins. */
export async function readAnswerItems(
  deps: RunLogDeps,
  run: Pick<ListedRun, 'id' | 'kind' | 'targetId'>,
  segment: number,
): Promise<readonly OutputItem[]> {
  const segments = createSegments(run.id)
  const answers = createAnswerItems()
  await readLog(deps, run, await beginLog(deps, run), (event) => {
    const begins = segments.next(event)
    answers.next(event, begins, segments.current())
    return segments.current() <= segment
  })
  return answers.of(segment)
}

function itemsOf({ eventId, type, payload }: LogEvent): readonly OutputItem[] {
  const fields = fieldsOf({ eventId, type, payload } as LogEvent)
  switch (type) {
    case 'approval.resolved': {
      const { approvalId, decision, reason } = fields
      const request = { approval_request_id: approvalRequestId(String(approvalId)), approve: decision === 'approved' }
      return [{ id: `mcprr_${approvalId}`, type: 'mcp_approval_response', ...request, reason: reason ?? null }]
    }
    case 'tool.result': {
      const { toolCallId, result, error } = fields
      const output = { call_id: String(toolCallId), output: valueText(error ?? result), status: 'completed' }
      return [{ id: `fco_${toolCallId}`, type: 'function_call_output', ...output }]
    }
    case 'run.resumed':
      return fields.payload === undefined ? [] : messageItems(`msg_${eventId}.input`, fields.payload)
    case 'run.message':
      return messageItems(`msg_${eventId}.input`, fields.content ?? null)
    default:
      return []
  }
}

/** @param value the chat that a client has sent, or any other value */
function messageItems(id: string, value: unknown): readonly OutputItem[] {
  const stored = messagesIn(value)
  const messages: readonly ChatMessage[] =
    stored.length > 0 || value === null
      ? stored
      : [{ role: 'user', content: [{ type: 'text', text: valueText(value) }] }]
  return messages.map((message, index) => ({
    ...{ id: `${id}.${index}`, type: 'message', role: message.role, status: 'completed' },
    content: message.content.flatMap((part) => toContent(part, message.role)),
  }))
}

function toContent(part: ChatMessage['content'][number], role: ChatMessage['role']): readonly object[] {
  if (part.type === 'text') {
    const { text } = part
    return [role === 'assistant' ? { type: 'output_text', text, annotations: [] } : { type: 'input_text', text }]
  }
  if (part.type !== 'file') return []
  const { url, mediaType, name = null } = part
  if (mediaType.startsWith('image/')) return [{ type: 'input_image', image_url: url, detail: 'auto' }]
  return [{ type: 'input_file', file_url: url, filename: name }]
}
