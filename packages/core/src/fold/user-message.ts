import { type Content, put } from './content.ts'
import { closeImplicit } from './fold-blocks.ts'
import { lastItem } from './item-list.ts'
import { fieldsOf, type LogEvent, textIn } from './log-event.ts'

/** A message that the run received while it worked. */
export interface ReceivedMessage {
  /** The run that the message would have started. */
  readonly from: string
  readonly content: unknown
}

/** The message that the event hands to the run; `undefined` for any other event. */
export function receivedMessage(event: LogEvent): ReceivedMessage | undefined {
  if (event.type !== 'run.message') return undefined
  const fields = fieldsOf(event)
  const from = textIn(fields, 'from')
  return from === undefined ? undefined : { from, content: fields.content ?? null }
}

export function foldUserMessage(content: Content, event: LogEvent): Content {
  const received = receivedMessage(event)
  if (received === undefined) return content
  const { from: id, content: sent } = received
  const last = lastItem(content.items)
  const isFirst = last === undefined || (last.kind === 'user-message' && last.isFirst)
  return put(closeImplicit(content), { kind: 'user-message', id, content: sent, isFirst })
}
