import { isFields } from './log-event.ts'
import type { Transcript } from './transcript.ts'

const TEXT_MEMBERS = ['text', 'answer', 'output', 'message', 'content'] as const

/**
 * The answer of a run as text: its blocks of text without commentary, joined by blank lines. Without such a block, the
 * result: a string, the first string of its members `text`, `answer`, `output`, `message` and `content`, or its JSON.
 */
export function outputText({ items, result }: Pick<Transcript, 'items' | 'result'>): string {
  const texts = items.flatMap((item) => (item.kind === 'text' && item.phase === undefined ? [item.text] : []))
  const said = texts.filter((text) => text !== '')
  return said.length > 0 ? said.join('\n\n') : textOfResult(result)
}

function textOfResult(result: unknown): string {
  if (result === undefined || result === null) return ''
  if (typeof result === 'string') return result
  const member = isFields(result) ? TEXT_MEMBERS.find((name) => typeof result[name] === 'string') : undefined
  return member === undefined ? JSON.stringify(result) : String((result as Record<string, unknown>)[member])
}
