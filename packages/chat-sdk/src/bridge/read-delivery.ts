import { AsyncLocalStorage } from 'node:async_hooks'
import type { Chat, Message, Thread } from 'chat'
import type { PerdureState } from '../state/perdure-state.ts'
import { APPROVE, DENY, readButton } from './approval-card.ts'
import type { ChatEvent, ChatUser, Delivery } from './chat-event.ts'

export interface ReadDeliveryDeps {
  readonly chat: Chat
  readonly state: PerdureState
  readonly input: (message: Message, thread: Thread) => unknown
  readonly isStop: (message: Message) => boolean
}

/** Lets the adapter parse a delivery. Resolves with what it means to the bridge; other handlers of the Chat have run too. */
export type ReadDelivery = (delivery: Delivery) => Promise<readonly ChatEvent[]>

export interface DeliveryReader {
  readonly read: ReadDelivery
  /** Whether the request is one that a hook of this server has verified; for the option `webhookVerifier` of an adapter. */
  isVerified(request: Request): boolean
}

const nameOf = ({ fullName, userName, userId }: Message['author']): string => fullName || userName || userId

export function createDeliveryReader({ chat, state, input, isStop }: ReadDeliveryDeps): DeliveryReader {
  const verified = new WeakSet<Request>()
  const reading = new AsyncLocalStorage<ChatEvent[]>()
  const note = (event: ChatEvent) => reading.getStore()?.push(event)
  const userOf = (adapter: string, author: Message['author']): ChatUser => ({
    ...{ adapter, userId: author.userId, name: nameOf(author) },
  })

  const onMessage = async (thread: Thread, message: Message): Promise<void> => {
    if (message.author.isBot === true) return
    const user = userOf(thread.adapter.name, message.author)
    if (isStop(message)) note({ kind: 'stop', user, threadId: thread.id })
    else note({ kind: 'message', user, threadId: thread.id, messageId: message.id, input: input(message, thread) })
  }
  chat.onNewMention(async (thread, message) => {
    await thread.subscribe()
    await onMessage(thread, message)
  })
  chat.onDirectMessage(onMessage)
  chat.onSubscribedMessage(onMessage)
  chat.onAction([APPROVE, DENY], async ({ adapter, actionId, value, user, threadId }) => {
    const button = readButton(value)
    if (button === undefined) return
    note({ kind: 'decision', user: userOf(adapter.name, user), threadId, ...button, approved: actionId === APPROVE })
  })
  chat.onAgentSessionStopped(async ({ adapter, threadId, userId }) => {
    note({ kind: 'stop', user: { adapter: adapter.name, userId, name: userId }, threadId })
  })

  const read: ReadDelivery = async ({ adapter, deliveryId, contentType, body }) => {
    const webhook = chat.webhooks[adapter]
    if (webhook === undefined) throw new Error(`the Chat has no adapter "${adapter}"`)
    // Without the header of the platform that marks a repeated request: the hook has recognized those.
    const request = new Request(`http://localhost/${adapter}`, {
      ...{ method: 'POST', body, headers: { 'content-type': contentType } },
    })
    verified.add(request)
    const tasks: Promise<unknown>[] = []
    const events: ChatEvent[] = []
    await state.duringDelivery(deliveryId, () =>
      reading.run(events, async () => {
        const response = await webhook(request, {
          waitUntil: (task) => tasks.push(task),
          propagateHandlerErrors: true,
        })
        if (!response.ok) throw new Error(`the adapter "${adapter}" refused a delivery with ${response.status}`)
        // A task may add others.
        for (let done = 0; done < tasks.length; done++) await tasks[done]
      }),
    )
    return events
  }

  return { read, isVerified: (request) => verified.has(request) }
}
