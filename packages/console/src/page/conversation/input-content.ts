import { type Fields, isFields } from './fold-parts.ts'

/** A part of what a user has sent. */
export type SentContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly url: string; readonly mediaType: string; readonly name?: string | undefined }
  | { readonly kind: 'value'; readonly value: unknown }

/** The members that name a text, if an input or a result has no other form. */
const TEXT_MEMBERS = ['text', 'prompt', 'message', 'question', 'task', 'query', 'input', 'answer', 'output'] as const

/** The parts of the input of a run: the messages of a chat, a text, or a value of another form. */
export function contentOf(input: unknown): readonly SentContent[] {
  if (input === undefined || input === null) return []
  if (isFields(input) && Array.isArray(input.messages)) {
    const sent = input.messages.filter(isFields).filter(({ role }) => role !== 'assistant')
    return sent.flatMap(({ content }) => (Array.isArray(content) ? content.filter(isFields).flatMap(partOf) : []))
  }
  const text = soleText(input)
  return [text === undefined ? { kind: 'value', value: input } : { kind: 'text', text }]
}

function partOf({ type, text, url, mediaType, name, data }: Fields): readonly SentContent[] {
  if (type === 'text' && typeof text === 'string') return [{ kind: 'text', text }]
  if (type === 'file' && typeof url === 'string' && typeof mediaType === 'string') {
    return [{ kind: 'file', url, mediaType, ...(typeof name === 'string' ? { name } : {}) }]
  }
  return type === 'data' ? [{ kind: 'value', value: data }] : []
}

/** The text of a value that is one, or whose only member is one. */
function soleText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (!isFields(value)) return undefined
  const members = Object.entries(value)
  const [name, text] = members[0] ?? []
  return members.length === 1 && typeof text === 'string' && TEXT_MEMBERS.some((one) => one === name) ? text : undefined
}

/** The same parts as a client of the AI SDK sends them. */
export const toSentParts = (content: readonly SentContent[]): readonly object[] =>
  content.map((part) => {
    if (part.kind === 'text') return { type: 'text', text: part.text }
    if (part.kind === 'value') return { type: 'data-input', data: part.value }
    const { url, mediaType, name: filename } = part
    return { type: 'file', url, mediaType, ...(filename === undefined ? {} : { filename }) }
  })

const PREVIEW = 120

/** The beginning of a value on one line, for a list; empty for a value that says nothing. */
export function previewOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  const texts = contentOf(value).map((part) => {
    if (part.kind === 'text') return part.text
    return part.kind === 'file' ? `[${part.name ?? part.mediaType}]` : (JSON.stringify(part.value) ?? '')
  })
  const text = texts
    .join(' ')
    .slice(0, PREVIEW * 4)
    .replaceAll(/\s+/g, ' ')
    .trim()
  return text.length > PREVIEW ? `${text.slice(0, PREVIEW)}…` : text
}
