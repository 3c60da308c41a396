import type { Chat } from '../client/resources.ts'
import { Empty } from '../parts/basics.tsx'
import { Subject } from '../parts/subject.tsx'
import { Ago } from '../parts/time.tsx'
import { hrefOf } from '../route.ts'
import { waitText } from '../run/span-fold.ts'

export interface ChatListProps {
  readonly chats: readonly Chat[]
  readonly agentId: string
  readonly openId: string | undefined
  /** Who reads the list: chats of others name their owner. */
  readonly subject: string
}

/** The chats of an agent, the one with the newest message first. */
export function ChatList({ chats, agentId, openId, subject }: ChatListProps) {
  if (chats.length === 0) return <Empty>No chat with {agentId} yet.</Empty>
  return (
    <ul class="plain chat-list">
      {chats.map((chat) => (
        <li key={chat.sessionId}>
          <a
            href={hrefOf(['chats', agentId, chat.sessionId])}
            aria-current={chat.sessionId === openId ? 'true' : undefined}
            class={chat.unread ? 'is-unread' : undefined}
          >
            <span class="chat-title">
              {chat.unread ? <span class="hidden">unread: </span> : null}
              {chat.title === '' ? 'Chat without a title' : chat.title}
            </span>
            <span class="quiet chat-when">
              <Ago at={chat.updatedAt} />
            </span>
            <span class="quiet chat-preview">{previewOf(chat)}</span>
            {chat.status === 'idle' ? null : <span class={`chat-state is-${chat.status}`}>{stateText(chat)}</span>}
            {chat.owner === subject ? null : (
              <span class="quiet chat-owner">
                of <Subject id={chat.owner} />
              </span>
            )}
          </a>
        </li>
      ))}
    </ul>
  )
}

/** An agent that returns nothing has said something, but its message has no text. */
const previewOf = ({ lastMessage }: Chat): string => {
  if (lastMessage === undefined) return 'no message'
  const { role, text } = lastMessage
  return text === '' ? `${role}: message without a text` : `${role}: ${text}`
}

const stateText = ({ status, waitingFor }: Chat): string => (status === 'suspended' ? waitText(waitingFor) : status)
