import type { AdapterPostableMessage, Chat, Message } from 'chat'
import type { PerdureState } from '../state/perdure-state.ts'

/** A message of the bot that the bridge posts once and edits afterwards. */
export interface Post {
  /** Names the message: the same name is never posted twice, as far as the platform lets the bridge find out. */
  readonly name: string
  readonly content: AdapterPostableMessage
  /** By what the message can be recognized in the thread. */
  readonly mark: string
  readonly isMarked: (message: Message, mark: string) => boolean
}

export interface Posts {
  /** Posts the message or, if it was posted, edits it. */
  show(post: Post): Promise<void>
}

/** First the mark is stored, then the message is posted, then its id is stored. */
interface Stored {
  readonly mark: string
  readonly messageId?: string
  /** What the message shows, to leave out an edit that changes nothing. */
  readonly shown?: string
}

export interface PostsDeps {
  readonly chat: Chat
  readonly state: PerdureState
}

export const KEPT_MS = 30 * 24 * 60 * 60 * 1_000
const SEARCHED_MESSAGES = 50

/**
 * The messages of the bot in one thread. If the process dies after it has posted a message and before it has stored the id, the next
 * try looks for the message in the thread before it posts another one.
 */
export function createPosts({ chat, state }: PostsDeps, threadId: string): Posts {
  const { adapter } = chat.thread(threadId)
  const ownerKeyOf = (messageId: string) => `perdure:posted:${threadId}:${messageId}`

  /** The message of an interrupted try: it has the mark, and is no other known post. The try may have stored the id in part. */
  const findPosted = async ({ name, isMarked }: Post, mark: string): Promise<string | undefined> => {
    const { messages } = await adapter.fetchMessages(threadId, { limit: SEARCHED_MESSAGES, direction: 'backward' })
    for (const { id } of messages.filter((message) => message.author.isMe && isMarked(message, mark)).toReversed()) {
      const owner = await state.get<string>(ownerKeyOf(id))
      if (owner === null || owner === name) return id
    }
    return undefined
  }

  const remember = async ({ name }: Post, key: string, stored: Stored): Promise<void> => {
    if (stored.messageId !== undefined) await state.set(ownerKeyOf(stored.messageId), name, KEPT_MS)
    await state.set(key, stored, KEPT_MS)
  }

  return {
    async show(post) {
      // After a restart, no request may have initialized the adapter yet; without that, it does not know its own messages.
      await chat.initialize()
      const key = `perdure:post:${post.name}`
      const shown = JSON.stringify(post.content)
      const stored = await state.get<Stored>(key)
      const messageId = stored === null ? undefined : (stored.messageId ?? (await findPosted(post, stored.mark)))
      if (messageId !== undefined && stored?.shown === shown) return
      if (messageId !== undefined) {
        if (stored?.messageId === undefined) await remember(post, key, { mark: post.mark, messageId })
        await adapter.editMessage(threadId, messageId, post.content)
        await state.set(key, { mark: post.mark, messageId, shown }, KEPT_MS)
        return
      }
      await remember(post, key, { mark: post.mark })
      const { id } = await adapter.postMessage(threadId, post.content)
      await remember(post, key, { mark: post.mark, messageId: id, shown })
    },
  }
}
