import { useRef, useState } from 'preact/hooks'
import { mayChange, useApp } from '../app-context.ts'
import { ChatList } from '../chats/chat-list.tsx'
import { ChatView, NewChat } from '../chats/chat-view.tsx'
import { isRunOf } from '../chats/is-run-of.ts'
import type { Chat } from '../client/resources.ts'
import { Empty, Heading, Shown } from '../parts/basics.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { useReloadOn } from '../parts/use-reload.ts'
import { goTo, hrefOf } from '../route.ts'

const PAGE = 50
/** The most chats that the list shows; further ones are found by the session of a run. */
const MOST = 200
const NEW = 'new'

interface ChatsPageProps {
  readonly agentId: string | undefined
  /** The session of the open chat, or `new`. */
  readonly open: string | undefined
}

/** Conversations with an agent: those of its users, to read, and those of this session, to try the agent. */
export function ChatsPage({ agentId, open }: ChatsPageProps) {
  const { targets } = useApp()
  const agents = targets.filter(({ kind }) => kind === 'agent')
  const agent = agents.find(({ id }) => id === agentId) ?? (agentId === undefined ? agents[0] : undefined)
  if (agent === undefined) {
    return (
      <>
        <Heading title="Chats" />
        <Empty>
          {agents.length === 0 ? 'No agent is registered that this session may see.' : `No agent is called ${agentId}.`}{' '}
          {agents.length === 0 ? null : <a href="#/chats">Show the chats of the first agent</a>}
        </Empty>
      </>
    )
  }
  return (
    <AgentChats key={agent.id} agentId={agent.id} open={open}>
      {agents.map(({ id }) => id)}
    </AgentChats>
  )
}

interface AgentChatsProps {
  readonly agentId: string
  readonly open: string | undefined
  /** The agents to choose from. */
  readonly children: readonly string[]
}

function AgentChats({ agentId, open, children: agents }: AgentChatsProps) {
  const app = useApp()
  const { client, session } = app
  const [limit, setLimit] = useState(PAGE)
  const list = useLoaded(() => client.chats.list(agentId, { limit }), [agentId, limit])
  const { reload, change } = list
  const markRead = (id: string) =>
    change(({ items, ...page }) => ({
      ...page,
      items: items.map((chat) => (chat.sessionId === id ? asRead(chat) : chat)),
    }))
  useReloadOn(isRunOf(agentId), reload)
  return (
    <>
      <Heading title="Chats">
        {mayChange(app, 'agents:invoke') ? (
          <a class="button primary" href={hrefOf(['chats', agentId, NEW])}>
            New chat
          </a>
        ) : null}
      </Heading>
      <div class={open === undefined ? 'chats' : 'chats has-open'}>
        <section class="chats-side" aria-label="List of chats">
          <label class="stacked">
            Agent
            <select value={agentId} onChange={({ currentTarget }) => goTo(hrefOf(['chats', currentTarget.value]))}>
              {agents.map((id) => (
                <option key={id} value={id}>
                  {id}
                </option>
              ))}
            </select>
          </label>
          <Shown loaded={list}>
            {({ items, nextCursor }) => (
              <>
                <ChatList chats={items} agentId={agentId} openId={open} subject={session.subject} />
                {nextCursor === null ? null : limit < MOST ? (
                  <p class="pager">
                    <button type="button" onClick={() => setLimit(Math.min(MOST, limit * 2))}>
                      Show more
                    </button>
                  </p>
                ) : (
                  <p class="quiet">Only the newest {MOST} chats are listed.</p>
                )}
              </>
            )}
          </Shown>
        </section>
        <div class="chats-main">
          {open === undefined ? (
            <Empty>Choose a chat to read it.</Empty>
          ) : (
            <>
              <p class="narrow-only">
                <a href={hrefOf(['chats', agentId])}>‹ All chats with {agentId}</a>
              </p>
              {open === NEW ? (
                <NewChat
                  agentId={agentId}
                  onStarted={(sessionId) => {
                    reload()
                    goTo(hrefOf(['chats', agentId, sessionId]))
                  }}
                />
              ) : (
                <OpenChat
                  key={open}
                  agentId={agentId}
                  id={open}
                  listed={list.data?.items}
                  onChanged={reload}
                  onRead={markRead}
                />
              )}
            </>
          )}
        </div>
      </div>
    </>
  )
}

interface OpenChatProps {
  readonly agentId: string
  readonly id: string
  /** The chats of the list; `undefined` until they are read. */
  readonly listed: readonly Chat[] | undefined
  readonly onChanged: () => void
  readonly onRead: (sessionId: string) => void
}

const asRead = (chat: Chat): Chat => ({ ...chat, unread: false })

/** The chat as the list has it, or as it is read by itself if it is not in the list. */
function OpenChat({ agentId, id, listed, onChanged, onRead }: OpenChatProps) {
  const wasListed = useRef<boolean | undefined>(undefined)
  if (listed === undefined) return null
  const found = listed.find(({ sessionId, chatId }) => sessionId === id || chatId === id)
  wasListed.current ??= found !== undefined
  // A new chat that enters the list must not be drawn again from its beginning.
  return found !== undefined && wasListed.current ? (
    <ChatView chat={found} onChanged={onChanged} onRead={() => onRead(found.sessionId)} />
  ) : (
    <UnlistedChat agentId={agentId} id={id} onChanged={onChanged} onRead={onRead} />
  )
}

function UnlistedChat({ agentId, id, onChanged, onRead }: Omit<OpenChatProps, 'listed'>) {
  const { client } = useApp()
  const loaded = useLoaded(() => client.chats.get(agentId, id), [agentId, id])
  useReloadOn(isRunOf(agentId), loaded.reload)
  return (
    <Shown loaded={loaded}>
      {(chat) => (
        <ChatView
          chat={chat}
          onChanged={() => {
            loaded.reload()
            onChanged()
          }}
          onRead={() => {
            loaded.change(asRead)
            onRead(chat.sessionId)
          }}
        />
      )}
    </Shown>
  )
}
