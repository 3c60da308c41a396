import type { Block } from './content.ts'
import { fieldsOf, type LogEvent, textIn } from './log-event.ts'

/** The text that the event has appended to an open block; `undefined` if the event did something else to it. */
export function appendedText(before: Block | undefined, after: Block, event: LogEvent): string | undefined {
  if (before === undefined || (event.type !== 'text.delta' && event.type !== 'reasoning.delta')) return undefined
  const delta = textIn(fieldsOf(event), 'delta')
  const isAppended = after.isOpen && before.restarts === after.restarts
  return isAppended && after.text.length === before.text.length + (delta?.length ?? 0) ? delta : undefined
}
