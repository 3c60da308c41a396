import { DENIED_WITHOUT_REASON } from '../fold/fold-tools.ts'
import { isFields } from '../fold/log-event.ts'
import { outputText } from '../fold/output-text.ts'
import type { FileItem, ToolItem, Transcript, TranscriptItem } from '../fold/transcript.ts'
import type { MessagePart, ToolCallOutcome } from './session-message.ts'

/** What these items of a run say, as parts of a message. */
export const partsOfItems = (items: readonly TranscriptItem[], all: Transcript): readonly MessagePart[] =>
  items.flatMap((item): readonly MessagePart[] => {
    switch (item.kind) {
      case 'text':
        if (item.text === '') return []
        return [{ type: 'text', text: item.text, ...(item.phase === undefined ? {} : { isCommentary: true }) }]
      case 'reasoning':
        return item.text === '' ? [] : [{ type: 'reasoning', text: item.text }]
      case 'file':
        return fileOf(item)
      case 'data':
        return [{ type: 'data', name: item.name, data: item.data }]
      case 'tool':
        return [toolOf(item, all)]
      default:
        return []
    }
  })

function fileOf({ mediaType, url, data, name }: FileItem): readonly MessagePart[] {
  const source = url ?? (data === undefined ? undefined : `data:${mediaType};base64,${data}`)
  return source === undefined ? [] : [{ type: 'file', mediaType, url: source, ...(name === undefined ? {} : { name }) }]
}

function toolOf(item: ToolItem, all: Transcript): MessagePart {
  const { id: toolCallId, name, declared, args = {}, editedArgs } = item
  return {
    ...{ type: 'tool', toolCallId, name, input: args },
    isDynamic: declared !== 'static',
    ...(editedArgs === undefined ? {} : { editedInput: editedArgs }),
    outcome: outcomeOf(item, all),
  }
}

function outcomeOf({ status, result, error, isPreliminary, approvalId }: ToolItem, all: Transcript): ToolCallOutcome {
  if (status === 'done' && isPreliminary !== true) return { status: 'done', result: result ?? null }
  if (status === 'failed') return { status: 'failed', error: error?.message ?? 'the tool failed', ...kindOf(error) }
  if (status !== 'denied') return { status: 'cut-off' }
  const approval = all.items.find(({ kind, id }) => kind === 'approval' && id === approvalId)
  // A policy decides without a request for approval; its reason is in the end of the call.
  const reason = approval?.kind === 'approval' ? approval.reason : reasonIn(error)
  return { status: 'denied', ...(reason === undefined ? {} : { reason }) }
}

const kindOf = (error: ToolItem['error']) => (error === undefined ? {} : { kind: error.kind })

const reasonIn = (error: ToolItem['error']) => (error?.message === DENIED_WITHOUT_REASON ? undefined : error?.message)

/**
 * What a user has sent: a chat, a text, or an input of another form. Instructions come from the agent alone, so messages of
 * other roles do not count.
 */
export function partsOfInput(content: unknown): readonly MessagePart[] {
  if (isFields(content) && Array.isArray(content.messages))
    return content.messages.filter(isFields).flatMap((message) => (message.role === 'user' ? partsOfChat(message) : []))
  const text = textOf(content)
  return text === '' ? [] : [{ type: 'text', text }]
}

/** The text of a result. */
export function partsOfResult(result: unknown): readonly MessagePart[] {
  const text = outputText({ items: [], result })
  return text === '' ? [] : [{ type: 'text', text }]
}

function textOf(content: unknown): string {
  if (content === null || content === undefined) return ''
  if (isFields(content)) {
    if (typeof content.text === 'string') return content.text
    const texts = Object.values(content).filter((member) => typeof member === 'string')
    if (texts.length === 1) return String(texts[0])
  }
  return typeof content === 'string' ? content : JSON.stringify(content)
}

/** The parts of one message of a chat. */
export function partsOfChat({ content }: Readonly<Record<string, unknown>>): readonly MessagePart[] {
  if (!Array.isArray(content)) return []
  return content.filter(isFields).flatMap(({ type, text, mediaType, url, name, data }): readonly MessagePart[] => {
    if (type === 'text' && typeof text === 'string') return [{ type, text }]
    if (type === 'data') return [{ type, ...(typeof name === 'string' ? { name } : {}), data: data ?? null }]
    if (type !== 'file' || typeof mediaType !== 'string' || typeof url !== 'string') return []
    return [{ type, mediaType, url, ...(typeof name === 'string' ? { name } : {}) }]
  })
}
