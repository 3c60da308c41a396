import {
  type EventLog,
  fromJsonText,
  type JsonText,
  type MessageBrief,
  type NewEvent,
  type NewMessage,
  type RunRecord,
} from '@perdure/ports'
import { isFields, textIn } from '../fold/log-event.ts'
import { partsOfInput, partsOfResult } from './answer-parts.ts'

const MAX_BRIEF = 200
const MAX_TITLE = 80
/** How much of a log is read for the beginning of an answer. */
const MAX_EVENTS = 500
const MAX_EVENTS_LENGTH = 65_536
/** A character that people see can be written with many. */
const UNITS_PER_CHARACTER = 4

/** What a list of chats shows of a message; `undefined` if no turn of an agent has written it. */
export const briefOf = (
  { kind, targetId: agentId }: Pick<RunRecord, 'kind' | 'targetId'>,
  { role, content }: Pick<NewMessage, 'role' | 'content'>,
): MessageBrief | undefined =>
  kind === 'agent' ? { agentId, text: onOneLine(textOf(role, content), MAX_BRIEF) } : undefined

/** What a list of chats shows of an answer without a text: the beginning of what the turn has said. */
export async function briefOfSaid(
  events: Pick<EventLog, 'read'>,
  { id: runId, targetId: agentId }: RunRecord,
  more: readonly NewEvent[] = [],
): Promise<MessageBrief> {
  const first = await events.read({ runId }, { after: 0, limit: MAX_EVENTS, maxLength: MAX_EVENTS_LENGTH })
  const texts = [...first, ...more].flatMap(({ type, payload }) => (type === 'text.delta' ? deltaIn(payload) : []))
  return { agentId, text: onOneLine(texts.join(''), MAX_BRIEF) }
}

function deltaIn(payload: JsonText): readonly string[] {
  const fields: unknown = fromJsonText(payload)
  return isFields(fields) ? [textIn(fields, 'delta') ?? ''] : []
}

/** The title that the first message of a chat gives it. */
export const titleOf = (input: JsonText): string => titleLine(textOf('user', input))

export const titleLine = (text: string): string => onOneLine(text, MAX_TITLE)

/** The text of a message, or the names of its files. */
function textOf(role: NewMessage['role'], content: JsonText): string {
  const value: unknown = fromJsonText(content)
  const parts = role === 'user' ? partsOfInput(value) : partsOfResult(value)
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const files = parts.flatMap((part) => (part.type === 'file' ? [part.name ?? part.mediaType] : []))
  return texts.length > 0 ? texts.join(' ') : files.join(', ')
}

/** Cuts between characters as people see them, so that no emoji and no letter with an accent is torn apart. */
function onOneLine(text: string, maxCharacters: number): string {
  const maxUnits = UNITS_PER_CHARACTER * maxCharacters
  const line = text
    .slice(0, 4 * maxUnits)
    .replaceAll(/\s+/gu, ' ')
    .trim()
  if (line.length <= maxCharacters) return line
  let cut = ''
  let count = 0
  for (const { segment } of new Intl.Segmenter().segment(line)) {
    if (count === maxCharacters - 1 || cut.length + segment.length > maxUnits) return `${cut.trimEnd()}…`
    cut += segment
    count += 1
  }
  return cut
}
