import { isRefusal, parseStrictText, perdureError } from '@perdure/ports'
import { isFields } from '../fold/log-event.ts'
import type { ChatInput } from './chat-input.ts'
import { checkInput } from './check-input.ts'
import type { RunTarget } from './run-target.ts'

/** The input of an agent from a chat. @throws PerdureError `invalid-input` */
export async function inputFromChat(
  target: Pick<RunTarget, 'kind' | 'id' | 'input' | 'fromChat'>,
  chat: ChatInput,
): Promise<unknown> {
  const { input, fromChat } = target
  if (fromChat !== undefined) return fromChat(chat)
  return input === undefined ? chat : agentInput(chat, (form) => checkInput(target, form))
}

/** The members under which an input schema may expect the text of the message. */
const TEXT_MEMBERS = ['text', 'prompt', 'message', 'question', 'task', 'query', 'input'] as const

/**
 * The input of the agent: the chat itself without a schema, else the first form that the schema accepts: the chat, the
 * text, the text parsed as a JSON object, or an object with the text as one of the members above.
 *
 * @param check parses an input by the schema of the agent; throws `invalid-input`
 * @throws PerdureError `invalid-input`
 */
async function agentInput(chat: ChatInput, check: (input: unknown) => unknown): Promise<unknown> {
  const { text } = chat
  const object = parsedObject(text)
  const forms = [
    chat,
    text,
    ...(object === undefined ? [] : [object]),
    ...TEXT_MEMBERS.map((member) => ({ [member]: text })),
  ]
  for (const form of forms) if (await isAccepted(form, check)) return form
  throw perdureError('invalid-input', {
    message: `input: the schema of the agent accepts neither the chat, nor its text, nor { ${TEXT_MEMBERS.join(' | ')}: text }`,
    hint: 'send the input as JSON in the text of the message, or let the schema accept one of these forms',
  })
}

async function isAccepted(input: unknown, check: (input: unknown) => unknown): Promise<boolean> {
  try {
    await check(input)
    return true
  } catch (error) {
    if (isRefusal(error) && error.code === 'invalid-input') return false
    throw error
  }
}

function parsedObject(text: string): object | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const value: unknown = parseStrictText(text)
    return isFields(value) ? value : undefined
  } catch {
    return undefined
  }
}
