import { type OwnResult, ownResultOf, type RunContext, withOwnResult } from '@perdure/core'
import type { ModelMessage } from 'ai'
import type { Durable } from '../durable-types.ts'
import type { ChatTitle } from './chat-types.ts'

/** A title is not worth a longer wait: the page shows the answer, but the turn has not ended. */
const TIMEOUT = '30s'

/** @throws TypeError unless it is `'first-message'`, a function, or missing */
export function checkTitle(title: unknown): asserts title is ChatTitle | undefined {
  if (title === undefined || title === 'first-message' || typeof title === 'function') return
  throw new TypeError("title: must be 'first-message', or a function that makes the title from the messages")
}

interface Titling {
  readonly ctx: RunContext
  readonly ai: Pick<Durable, 'uiMessages'>
  readonly title: ChatTitle | undefined
  /** The prompt of the turn. */
  readonly messages: readonly ModelMessage[]
}

/** Lets the turn give its chat a title after the first answer. The turn does not fail if that fails. */
export function withTitle<T extends object>(answer: T, { ctx, ai, title, messages }: Titling): T {
  const { session } = ctx
  const result = ownResultOf(answer)
  const hasAnswer = messages.some(({ role }) => role === 'assistant')
  if (typeof title !== 'function' || session === undefined || result === undefined || hasAnswer) return answer
  const titled: OwnResult = async (show) => {
    const value = await result(show)
    try {
      const shown = await ai.uiMessages()
      const text = await ctx.step('chat.title', async () => (await title(shown)).trim(), {
        retries: 0,
        timeout: TIMEOUT,
      })
      if (text !== '') await session.suggestTitle(text)
    } catch (error) {
      if (ctx.signal.aborted) throw error
      ctx.log.warn('the chat keeps its first message as its title', { error: String(error) })
    }
    return value
  }
  return withOwnResult(answer, titled)
}
