import type { ChatInput, ChatMessage, ChatPart, RunContext } from '@perdure/core'
import type { ModelMessage } from 'ai'
import { isObject } from '../sdk.ts'
import type { ChatAgentInput } from './chat-types.ts'

/** How many earlier messages of the session the model sees. */
const MAX_MESSAGES = 200

/**
 * The messages for the model: what the transcript of the session has before this run, and what started the run. A run
 * without a session, and a child run, see their own input alone.
 */
export async function conversation(ctx: RunContext, input: ChatAgentInput): Promise<ModelMessage[]> {
  const transcript = (await ctx.session?.messages({ limit: MAX_MESSAGES })) ?? []
  const own = transcript.findIndex(({ runId }) => runId === ctx.runId)
  const earlier = own === -1 ? [] : transcript.slice(0, own)
  return [...earlier, { role: 'user' as const, content: input }].flatMap(({ role, content }) =>
    role === 'assistant' ? answerOf(content) : questionsOf(content),
  )
}

/** The messages that started the run. */
export const ownMessages = (input: ChatAgentInput): ModelMessage[] => questionsOf(input)

function answerOf(content: unknown): ModelMessage[] {
  const text = isObject(content) && typeof content.text === 'string' ? content.text : textOf(content)
  return text === '' ? [] : [{ role: 'assistant', content: text }]
}

function questionsOf(content: unknown): ModelMessage[] {
  const chat = isObject(content) && Array.isArray(content.messages) ? (content as unknown as ChatInput) : undefined
  if (chat !== undefined) return chat.messages.flatMap(messageOf)
  const text = isObject(content) && typeof content.text === 'string' ? content.text : textOf(content)
  return text === '' ? [] : [{ role: 'user', content: text }]
}

const textOf = (content: unknown): string =>
  typeof content === 'string' ? content : content === null || content === undefined ? '' : JSON.stringify(content)

/** Instructions come from the agent alone, so messages of other roles do not count. */
function messageOf({ role, content }: ChatMessage): ModelMessage[] {
  if (role === 'assistant') {
    return answerOf(content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n'))
  }
  const parts = role === 'user' ? content.flatMap(partOf) : []
  return parts.length === 0 ? [] : [{ role: 'user', content: parts }]
}

type UserPart = Extract<Extract<ModelMessage, { readonly role: 'user' }>['content'], readonly unknown[]>[number]

function partOf(part: ChatPart): UserPart[] {
  if (part.type === 'text') return [{ type: 'text', text: part.text }]
  if (part.type !== 'file') return []
  const { url, mediaType, name } = part
  return [{ type: 'file', data: new URL(url), mediaType, ...(name === undefined ? {} : { filename: name }) }]
}
