import type { Event } from '../api/resources.ts'

/** A part of the conversation inside a run. */
export type MessagePart =
  | { readonly kind: 'text' | 'reasoning'; readonly id: string; readonly text: string }
  | { readonly kind: 'tool'; readonly id: string; readonly name: string; readonly args: unknown; answer: unknown }

type Payload = Readonly<Record<string, unknown>>
type TextKind = 'text' | 'reasoning'

/** Joins the pieces of the answer and of the reasoning, and the calls of tools, in the order in which they begin. */
export function messagesOf(events: readonly Event[]): readonly MessagePart[] {
  const parts = new Map<string, MessagePart>()
  const hasText = () => [...parts.values()].some(({ kind }) => kind === 'text')

  const changeText = (kind: TextKind, { messageId, blockId }: Payload, change: (text: string) => string) => {
    const id = `${kind} ${String(messageId ?? '')} ${String(blockId ?? '')}`
    const known = parts.get(id)
    parts.set(id, { kind, id, text: change(known !== undefined && 'text' in known ? known.text : '') })
  }
  const append = (kind: TextKind) => (payload: Payload) =>
    changeText(kind, payload, (text) => text + String(payload.delta ?? ''))
  // A block that starts again withdraws its earlier text.
  const withdraw = (kind: TextKind) => (payload: Payload) => changeText(kind, payload, () => '')
  const answer = (toolCallId: unknown, value: unknown) => {
    const call = parts.get(`tool ${String(toolCallId)}`)
    if (call?.kind === 'tool') call.answer = value
  }

  const handlers: Readonly<Record<string, (payload: Payload) => void>> = {
    'text.start': withdraw('text'),
    'text.delta': append('text'),
    'text.complete': (payload) => {
      if (!hasText()) changeText('text', payload, () => String(payload.text ?? ''))
    },
    'reasoning.start': withdraw('reasoning'),
    'reasoning.delta': append('reasoning'),
    'tool.execute.start': ({ toolCallId, toolName, args }) => {
      const id = `tool ${String(toolCallId)}`
      parts.set(id, { kind: 'tool', id, name: String(toolName ?? 'tool'), args, answer: undefined })
    },
    'tool.execute.end': ({ toolCallId, result }) => answer(toolCallId, result),
    'tool.execute.error': ({ toolCallId, error }) => answer(toolCallId, error),
    'tool.result': ({ toolCallId, result, error }) => answer(toolCallId, error ?? result),
  }

  for (const { type, payload } of events) {
    if (typeof payload === 'object' && payload !== null) handlers[type]?.(payload as Payload)
  }
  return [...parts.values()].filter((part) => part.kind === 'tool' || part.text !== '')
}
