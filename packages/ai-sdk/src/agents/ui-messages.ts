import type { MessagePart, SessionMessage, ToolCallOutcome } from '@perdure/core'
import type { UIMessage } from 'ai'
import { isObject } from '../sdk.ts'

/** A conversation as a page shows it. */
export const toUiMessages = (messages: readonly SessionMessage[]): UIMessage[] =>
  messages.flatMap((message) => {
    const parts = message.parts.flatMap((part) => [...(part.startsAnswer === true ? [STEP] : []), partOf(part)])
    return parts.length === 0 ? [] : [{ id: idOf(message), role: message.role, parts } as unknown as UIMessage]
  })

const STEP = { type: 'step-start' }

/** The page knows a question by the id that it gave to it. */
function idOf({ id, role, content }: SessionMessage): string {
  const sent =
    role === 'user' && isObject(content) && Array.isArray(content.messages) ? content.messages.at(-1) : undefined
  return isObject(sent) && typeof sent.id === 'string' ? sent.id : id
}

function partOf(part: MessagePart): object {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'reasoning':
      return { type: 'reasoning', text: part.text }
    case 'file':
      return {
        ...{ type: 'file', url: part.url, mediaType: part.mediaType },
        ...(part.name === undefined ? {} : { filename: part.name }),
      }
    case 'data':
      return { type: `data-${part.name ?? 'input'}`, data: part.data }
    case 'tool': {
      const { toolCallId, name, input, isDynamic, outcome } = part
      const type = isDynamic ? { type: 'dynamic-tool', toolName: name } : { type: `tool-${name}` }
      return { ...type, toolCallId, input, ...outcomeOf(outcome) }
    }
  }
}

function outcomeOf(outcome: ToolCallOutcome): object {
  if (outcome.status === 'done') return { state: 'output-available', output: outcome.result }
  if (outcome.status === 'failed') return { state: 'output-error', errorText: outcome.error }
  if (outcome.status === 'denied') {
    const reason = outcome.reason === undefined ? {} : { reason: outcome.reason }
    return { state: 'output-denied', approval: { id: 'decided', approved: false, ...reason } }
  }
  return { state: 'output-error', errorText: 'The call was cut off before it had a result.' }
}
