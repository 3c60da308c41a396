import { useChat } from '@ai-sdk/react'
import {
  DefaultChatTransport,
  type DynamicToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai'
import { createChatFetch } from 'perdure/client'
import { useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'

const api = '/v1/agents/clerk/chat'
const chats = '/v1/agents/clerk/chats'
localStorage.chat ??= `chat-${Date.now()}`
const id: string = localStorage.chat

const transport = new DefaultChatTransport({ api: `${api}?v=7`, fetch: createChatFetch() })

type MessagePart = UIMessage['parts'][number]
type Approvable = Extract<DynamicToolUIPart, { state: 'approval-requested' }>
type Choice = DynamicToolUIPart & { input: { of: string[] } }

const asksForApproval = (part: MessagePart): part is Approvable =>
  part.type === 'dynamic-tool' && part.state === 'approval-requested'
const asksForColor = (part: MessagePart): part is Choice =>
  part.type === 'dynamic-tool' && part.toolName === 'pickColor' && part.state === 'input-available'
const isAsking = (messages: UIMessage[]) =>
  messages.at(-1)?.parts.some((part) => asksForApproval(part) || asksForColor(part)) ?? false

function Chat({ earlier }: { earlier: UIMessage[] }) {
  const { messages, status, error, sendMessage, addToolApprovalResponse, addToolOutput } = useChat({
    id,
    messages: earlier,
    resume: true,
    transport,
    sendAutomaticallyWhen: (chat) =>
      !isAsking(chat.messages) &&
      (lastAssistantMessageIsCompleteWithApprovalResponses(chat) || lastAssistantMessageIsCompleteWithToolCalls(chat)),
  })
  // An answer that the page has shown is no longer unread.
  useEffect(() => {
    if (status !== 'ready' || messages.length === 0) return
    const headers = { 'Content-Type': 'application/json' }
    fetch(`${chats}/${id}`, { method: 'PATCH', headers, body: '{"read":true}' })
  }, [status, messages.length])

  const decide = (part: Approvable, approved: boolean) => addToolApprovalResponse({ id: part.approval.id, approved })
  const pick = ({ toolCallId, toolName }: Choice, output: string) =>
    addToolOutput({ toolCallId, tool: toolName, output })

  // A new message would start another run, and leave the question of this one without an answer.
  const isBusy = status === 'submitted' || status === 'streaming'
  const send = (form: FormData) => {
    sendMessage({ text: String(form.get('text')) })
  }

  return (
    <>
      {messages.map(({ id, role, parts }) => (
        <article key={id} className={role}>
          <b>{role}</b>{' '}
          {parts.map((part, n) => (
            <Part key={n} {...{ part, decide, pick }} />
          ))}
        </article>
      ))}
      <form action={send}>
        <input name="text" aria-label="message" defaultValue="order paper" />
        <button type="submit" disabled={isBusy || isAsking(messages)}>
          Send
        </button>
      </form>
      <button
        type="button"
        disabled={status !== 'streaming'}
        onClick={() => fetch(`${api}/${id}/stop`, { method: 'POST' })}
      >
        Stop
      </button>
      <p role="status">{error ? error.message : status}</p>
    </>
  )
}

interface PartProps {
  part: MessagePart
  decide: (part: Approvable, approved: boolean) => void
  pick: (part: Choice, output: string) => void
}

function Part({ part, decide, pick }: PartProps) {
  if (part.type === 'text') return <span>{part.text}</span>
  if (part.type !== 'dynamic-tool') return null
  if (asksForApproval(part)) {
    return (
      <fieldset>
        <legend>{part.title ?? part.toolName}</legend>
        <button type="button" onClick={() => decide(part, true)}>
          Approve
        </button>
        <button type="button" onClick={() => decide(part, false)}>
          Deny
        </button>
      </fieldset>
    )
  }
  if (asksForColor(part)) {
    return (
      <fieldset>
        <legend>Pick a color</legend>
        {part.input.of.map((color) => (
          <button type="button" key={color} onClick={() => pick(part, color)}>
            {color}
          </button>
        ))}
      </fieldset>
    )
  }
  return (
    <pre>
      {part.toolName}: {part.output === undefined ? part.state : JSON.stringify(part.output)}
    </pre>
  )
}

interface Entry {
  chatId: string
  title: string
  unread: boolean
  status: 'idle' | 'queued' | 'running' | 'suspended'
}

function Chats() {
  const [entries, setEntries] = useState<Entry[]>([])
  useEffect(() => {
    const read = async () => {
      if (document.hidden) return
      const list = await fetch(chats)
      if (list.ok) setEntries((await list.json()).items)
    }
    read()
    const timer = setInterval(read, 10_000)
    return () => clearInterval(timer)
  }, [])
  const open = (chat: string) => {
    localStorage.chat = chat
    location.reload()
  }

  return (
    <nav aria-label="chats">
      <button type="button" onClick={() => open(`chat-${Date.now()}`)}>
        New chat
      </button>
      {entries.map(({ chatId, title, unread, status }) => (
        <button type="button" key={chatId} aria-current={chatId === id} onClick={() => open(chatId)}>
          {unread && chatId !== id ? '● ' : ''}
          {title}
          {status === 'suspended' ? ' …' : ''}
        </button>
      ))}
    </nav>
  )
}

const root = createRoot(document.querySelector('#page') as HTMLElement)
const read = await fetch(`${api}/${id}/messages`)
if (read.ok) {
  root.render(
    <>
      <Chats />
      <Chat earlier={await read.json()} />
    </>,
  )
} else root.render(<p role="status">{(await read.text()) || read.statusText}</p>)
