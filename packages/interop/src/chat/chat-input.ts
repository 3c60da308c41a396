import { type ChatInput, type ChatMessage, type ChatTool, inputFromChat, isFields, type RunTarget } from '@perdure/core'
import { JSON_LIMITS, perdureError } from '@perdure/ports'
import { jsonSize } from '@perdure/protocol'

export interface ChatLimits {
  /** Maximum size of the input of a run. */
  readonly maxResultBytes: number
}

/** What a chat passes to a run. @throws PerdureError `body-too-large` */
export function chatInput(
  { maxResultBytes }: ChatLimits,
  messages: readonly ChatMessage[],
  settings: Readonly<Record<string, unknown>> = {},
  tools: readonly ChatTool[] = [],
): ChatInput {
  checkSize(messages, maxResultBytes)
  return {
    ...{ text: textOf(messages.at(-1)), messages },
    ...(tools.length === 0 ? {} : { tools }),
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
  }
}

/**
 * Refuses what the body of another operation could not hold either. A request with a history may have more members.
 *
 * @param what names the value in the message
 * @throws PerdureError `validation-failed`
 */
export function checkMembers(value: unknown, what: string): void {
  const left = { members: JSON_LIMITS.members, values: JSON_LIMITS.values }
  const isWithin = (one: unknown): boolean => {
    if (--left.values < 0) return false
    if (typeof one !== 'object' || one === null) return true
    const items = Object.values(one)
    left.members -= Array.isArray(one) ? items.filter((item) => typeof item === 'object').length : items.length
    return left.members >= 0 && items.every(isWithin)
  }
  if (isWithin(value)) return
  throw perdureError('validation-failed', {
    message: `${what} have more than ${JSON_LIMITS.members} members or ${JSON_LIMITS.values} values`,
    hint: 'split the data, or send it as one string or as a file',
  })
}

/** How many parts a message of a user may have. */
const MAX_MESSAGE_PARTS = 100
/** How many of them may be files. Each one that is sent with its content is a file to store. */
const MAX_MESSAGE_FILES = 32

/** @throws PerdureError `validation-failed` if the last message asks nothing, or a message of a user has too many parts */
export function checkParts(messages: readonly ChatMessage[]): void {
  const last = messages.at(-1)
  if (last !== undefined && !asksSomething(last)) throw asksNothing(last)
  for (const { role, content } of messages) {
    if (role !== 'user') continue
    const files = content.filter(({ type }) => type === 'file').length
    if (content.length > MAX_MESSAGE_PARTS) throw tooMany(content.length, MAX_MESSAGE_PARTS, 'parts')
    if (files > MAX_MESSAGE_FILES) throw tooMany(files, MAX_MESSAGE_FILES, 'files')
  }
}

const asksSomething = ({ role, content }: ChatMessage): boolean =>
  role !== 'system' && content.some((part) => part.type !== 'text' || part.text !== '')

const asksNothing = ({ role }: ChatMessage) =>
  perdureError('validation-failed', {
    message: role === 'system' ? 'the last message is not one of the user' : 'the last message is empty',
    hint: 'end the messages with one of the user that has a text, a file or data',
  })

const tooMany = (count: number, max: number, what: 'parts' | 'files') =>
  perdureError('validation-failed', {
    message: `the message has ${count} ${what}; a message may have ${max}`,
    hint: `send at most ${max} ${what} in a message, and the others in another one`,
  })

/** The tools in what a client sends, without anything that is not a tool. */
export const chatTools = (sent: unknown): readonly ChatTool[] =>
  (Array.isArray(sent) ? sent.filter(isFields) : []).flatMap(({ name, description, parameters }) =>
    typeof name === 'string' && name !== ''
      ? [
          {
            name,
            ...(typeof description === 'string' ? { description } : {}),
            ...(isFields(parameters) ? { parameters } : {}),
          },
        ]
      : [],
  )

/** The names of the tools that the client offered when it started the run with this input. */
export const offeredNames = (input: unknown): ReadonlySet<string> =>
  new Set(isFields(input) ? chatTools(input.tools).map(({ name }) => name) : [])

const textOf = (message: ChatMessage | undefined): string =>
  (message?.content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')

/**
 * Refuses messages that no run can store, before their text is copied: the input of a run has the text of the last one
 * twice, in `text` and in `messages`.
 *
 * @throws PerdureError `body-too-large`
 */
function checkSize(messages: readonly ChatMessage[], maxBytes: number): void {
  const whole = jsonSize(messages, maxBytes)
  const last = jsonSize(messages.at(-1) ?? null, maxBytes)
  if (whole !== undefined && last !== undefined && whole.bytes + textLength(messages.at(-1)) <= maxBytes) return
  throw perdureError('body-too-large', {
    message: `the new messages need more than ${maxBytes} bytes; the text of the last one counts twice`,
    hint: 'send a shorter message, or raise runs.maxResultBytes',
  })
}

const textLength = (message: ChatMessage | undefined): number =>
  (message?.content ?? []).reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0)

/** The input of a run from a chat. @throws PerdureError `validation-failed`, `invalid-input` */
export async function targetInput(target: RunTarget, chat: ChatInput): Promise<unknown> {
  checkMembers(chat, 'the new messages and the settings')
  return inputFromChat(target, chat)
}

/** The messages of a stored chat input; empty for an input of another form. */
export const messagesIn = (input: unknown): readonly ChatMessage[] =>
  isFields(input) && Array.isArray(input.messages) && input.messages.every(isChatMessage) ? input.messages : []

const isChatMessage = (message: unknown): message is ChatMessage =>
  isFields(message) && typeof message.role === 'string' && Array.isArray(message.content)
