import { useCallback, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { Chat } from './chat.tsx'
import * as server from './server.ts'
import type { SupportMessage } from './support-agent.ts'

/** Reads something again every ten seconds while the page is visible, and when `again` is called. */
function useReread<T>(read: () => Promise<T>, first: T): readonly [T, () => void] {
  const [value, setValue] = useState(first)
  const again = useCallback(() => void read().then(setValue, () => undefined), [read])
  useEffect(() => {
    again()
    const timer = setInterval(() => document.hidden || again(), 10_000)
    return () => clearInterval(timer)
  }, [again])
  return [value, again]
}

/** The chats of the customer, and the one that is open. */
function Customer() {
  const [chats, again] = useReread(server.listChats, [])
  const [id, setId] = useState<string>(() => (localStorage.chat ??= `chat-${Date.now()}`))
  const [earlier, setEarlier] = useState<SupportMessage[]>()
  const [error, setError] = useState('')
  const open = (chatId: string) => {
    localStorage.chat = chatId
    setEarlier(undefined)
    setId(chatId)
  }
  const change = (action: Promise<unknown>) => action.then(again, (reason: Error) => setError(reason.message))
  useEffect(() => {
    server.readMessages(id).then(setEarlier, (reason: Error) => setError(reason.message))
  }, [id])

  const shown = chats.find(({ chatId }) => chatId === id)
  const isUnread = shown?.unread === true
  useEffect(() => {
    if (isUnread) void server.markRead(id).catch(() => undefined)
  }, [id, isUnread])

  return (
    <>
      <nav aria-label="chats">
        <button type="button" onClick={() => open(`chat-${Date.now()}`)}>
          New chat
        </button>
        {chats.map(({ chatId, title, unread }) => (
          <div key={chatId} aria-current={chatId === id}>
            <button type="button" className={unread ? 'unread' : ''} onClick={() => open(chatId)}>
              {title || 'new chat'}
            </button>
            <button
              type="button"
              title="rename"
              onClick={() => {
                const named = prompt('Title', title)
                if (named) change(server.renameChat(chatId, named))
              }}
            >
              ✎
            </button>
            <button
              type="button"
              title="copy"
              onClick={() => change(server.forkChat(chatId).then((copy) => open(copy.chatId)))}
            >
              Copy
            </button>
            <button
              type="button"
              title="delete"
              onClick={() => {
                change(server.deleteChat(chatId))
                if (chatId === id) open(`chat-${Date.now()}`)
              }}
            >
              ✕
            </button>
          </div>
        ))}
      </nav>
      {earlier === undefined ? (
        <p role="status">{error}</p>
      ) : (
        <Chat key={id} {...{ id, earlier }} onTurn={again} turn={`${shown?.runId ?? ''} ${shown?.status ?? 'idle'}`} />
      )}
    </>
  )
}

/** The window of the staff: the refunds that wait for a decision. */
function Staff() {
  const [approvals, again] = useReread(server.listApprovals, [])
  const decide = (id: string, approved: boolean) => void server.decide(id, approved).then(again, again)
  return (
    <main>
      <h1>Refunds to decide</h1>
      {approvals.map(({ id, payload }) => (
        <fieldset key={id}>
          <legend>
            Refund {payload.amount} for {payload.orderId}?
          </legend>
          <button type="button" onClick={() => decide(id, true)}>
            Approve
          </button>
          <button type="button" onClick={() => decide(id, false)}>
            Deny
          </button>
        </fieldset>
      ))}
      <p role="status">{approvals.length === 0 ? 'nothing to decide' : `${approvals.length} to decide`}</p>
    </main>
  )
}

const root = createRoot(document.querySelector('#page') as HTMLElement)
root.render(location.search === '?staff' ? <Staff /> : <Customer />)
