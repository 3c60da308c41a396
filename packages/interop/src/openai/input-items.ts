import type { ChatMessage } from '@perdure/core'
import { fromJsonText, type ListedRun } from '@perdure/ports'
import { messagesIn } from '../chat/chat-input.ts'

/** The messages that started a run, as items. */
export function inputItems({ id, input }: Pick<ListedRun, 'id' | 'input'>) {
  const value: unknown = fromJsonText(input)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const stored = messagesIn(value)
  const messages: readonly ChatMessage[] =
    stored.length > 0 || value === null ? stored : [{ role: 'user', content: [{ type: 'text', text }] }]
  return messages.map((message, index) => ({
    ...{ id: `msg_${id}.input.${index}`, type: 'message', role: message.role, status: 'completed' },
    content: message.content.flatMap(toContent),
  }))
}

const toContent = (part: ChatMessage['content'][number]): readonly object[] => {
  if (part.type === 'text') return [{ type: 'input_text', text: part.text }]
  if (part.type !== 'file') return []
  return [{ type: 'input_file', file_url: part.url, filename: part.name ?? null }]
}
