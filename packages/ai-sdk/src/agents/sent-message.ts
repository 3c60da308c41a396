import { CHAT_ROLES } from '@perdure/core'
import { isObject } from '../sdk.ts'

export interface Issue {
  readonly message: string
  readonly path: readonly (string | number)[]
}

type Path = Issue['path']
type Fields = Readonly<Record<string, unknown>>

const ROLES: ReadonlySet<unknown> = new Set(CHAT_ROLES)
const FORM = 'send a message as { "role": "user", "content": "…" }, or with "parts" as a page has them'

/**
 * A message of a chat, from one of these forms: that of a chat itself, with parts as `content`; that of a model, with a text
 * as `content`; and that of a page, a `UIMessage`. Adds to `issues` why it has none of them.
 */
export function readMessage(sent: unknown, path: Path, issues: Issue[]): unknown {
  if (!isObject(sent)) return refuse(issues, path, FORM)
  const { parts, content = parts, ...rest } = sent
  if (!ROLES.has(sent.role)) return refuse(issues, [...path, 'role'], 'the role is user, assistant, system or tool')
  if (typeof content === 'string') return { ...rest, content: [{ type: 'text', text: content }] }
  const isOfPage = sent.content === undefined
  const place = [...path, isOfPage && parts !== undefined ? 'parts' : 'content']
  if (!Array.isArray(content)) return refuse(issues, place, FORM)
  const read = isOfPage ? partOfPage : (part: Fields) => part
  return { ...rest, content: content.map((part, index) => readPart(part, read, [...place, index], issues)) }
}

function readPart(part: unknown, read: (part: Fields) => unknown, path: Path, issues: Issue[]): unknown {
  if (!isObject(part)) return refuse(issues, path, 'a part is an object, as { "type": "text", "text": "…" }')
  const missing = MEMBERS[String(part.type)]?.find((member) => typeof part[member] !== 'string')
  if (typeof part.type !== 'string') return refuse(issues, [...path, 'type'], 'a part has a type: text, file or data')
  if (missing !== undefined) return refuse(issues, [...path, missing], `a part of type ${part.type} needs a ${missing}`)
  return read(part)
}

/** The texts that these parts have. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = { text: ['text'], file: ['mediaType', 'url'] }

const DATA = 'data-'

/** A part of a `UIMessage` as a chat has it. */
function partOfPage({ type, filename, ...rest }: Fields): unknown {
  if (type === 'file') return { type, ...rest, ...(filename === undefined ? {} : { name: filename }) }
  if (typeof type === 'string' && type.startsWith(DATA)) return { type: 'data', name: type.slice(DATA.length), ...rest }
  return { type, ...rest }
}

function refuse(issues: Issue[], path: Path, message: string): undefined {
  issues.push({ message, path })
}
