'use client'

import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport } from 'ai'
import { createChatFetch } from 'perdure/client'
import { useCallback, useEffect, useState } from 'react'
import type { SupportMessage } from '../support-agent.ts'

const agent = '/ai/v1/agents/support'
// The browser sends the cookie of the session; the page has no token.
const transport = new DefaultChatTransport<SupportMessage>({ api: `${agent}/chat?v=7`, fetch: createChatFetch() })

interface ChatRow {
  chatId: string
  title: string
}

async function read<T>(path: string): Promise<T> {
  const response = await fetch(`${agent}${path}`)
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as T
}

/** The chats of the signed-in user, and the one that is open. */
export function Chats() {
  const [chats, setChats] = useState<readonly ChatRow[]>([])
  const [open, setOpen] = useState<{ id: string; earlier: SupportMessage[] }>()
  const [error, setError] = useState('')
  const fail = useCallback((reason: Error) => setError(reason.message), [])
  const again = useCallback(() => {
    read<{ items: readonly ChatRow[] }>('/chats?limit=50').then(({ items }) => setChats(items), fail)
  }, [fail])
  useEffect(again, [again])

  const show = (id: string) =>
    read<SupportMessage[]>(`/chat/${encodeURIComponent(id)}/messages`).then((earlier) => setOpen({ id, earlier }), fail)

  return (
    <>
      <nav aria-label="chats">
        <button type="button" onClick={() => show(`chat-${crypto.randomUUID()}`)}>
          New chat
        </button>
        {chats.map(({ chatId, title }) => (
          <button key={chatId} type="button" onClick={() => show(chatId)}>
            {title || 'new chat'}
          </button>
        ))}
      </nav>
      <p role="status">{error}</p>
      {open === undefined ? null : <Chat key={open.id} {...open} onTurn={again} />}
    </>
  )
}

interface ChatProps {
  id: string
  earlier: SupportMessage[]
  /** Called when an answer begins and ends. */
  onTurn: () => void
}

function Chat({ id, earlier, onTurn }: ChatProps) {
  const { messages, status, error, sendMessage } = useChat<SupportMessage>({
    id,
    messages: earlier,
    resume: true,
    transport,
  })
  useEffect(onTurn, [status, onTurn])

  return (
    <main>
      {messages.map((message) => (
        <article key={message.id} className={message.role}>
          {message.parts.map((part, n) => (part.type === 'text' ? <span key={n}>{part.text}</span> : null))}
        </article>
      ))}
      <form action={(form) => void sendMessage({ text: String(form.get('text')) })}>
        <input name="text" aria-label="message" defaultValue="refund A-17" />
        <button type="submit" disabled={status !== 'ready' && status !== 'error'}>
          Send
        </button>
      </form>
      <p role="status">{error?.message ?? status}</p>
    </main>
  )
}
