import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport } from 'ai'
import { createChatFetch } from 'perdure/client'
import { useEffect, useRef, useState } from 'react'
import * as server from './server.ts'
import type { SupportMessage } from './support-agent.ts'

const transport = new DefaultChatTransport<SupportMessage>({ api: `${server.api}?v=7`, fetch: createChatFetch() })

type Part = SupportMessage['parts'][number]

const textOf = ({ parts }: SupportMessage) => parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

interface ChatProps {
  id: string
  earlier: SupportMessage[]
  /** What the agent does in the chat, as the list of chats says. */
  turn: string
  /** Called when an answer begins and ends. */
  onTurn: () => void
}

export function Chat({ id, earlier, turn, onTurn }: ChatProps) {
  const chat = useChat<SupportMessage>({ id, messages: earlier, resume: true, transport })
  const { messages, status, error, sendMessage, setMessages, resumeStream, regenerate, stop } = chat
  const [queue, setQueue] = useState<readonly server.Queued[]>([])
  const [refused, setRefused] = useState('')
  const [edited, setEdited] = useState<SupportMessage>()
  const text = useRef<HTMLInputElement>(null)
  const isBusy = status === 'submitted' || status === 'streaming'
  const last = messages.at(-1)

  const act = (action: Promise<unknown>) =>
    action.then(
      () => setRefused(''),
      (reason: Error) => setRefused(reason.message),
    )
  const readQueue = () => server.readQueue(id).then(setQueue, (reason: Error) => setRefused(reason.message))
  const change = (action: Promise<unknown>) => act(action).then(readQueue)

  // Staff, another tab or a message of the queue has moved the chat on: what this page has not shown follows.
  const shownTurn = useRef(turn)
  useEffect(() => {
    if (isBusy || turn === shownTurn.current) return
    shownTurn.current = turn
    act(
      server.readMessages(id).then((read) => {
        setMessages(read)
        return resumeStream()
      }),
    )
  }, [id, turn, isBusy, setMessages, resumeStream])

  // The agent takes messages that wait between the parts of its answer, and at its end.
  const parts = last?.parts.length
  useEffect(() => void readQueue(), [id, turn, isBusy, parts])
  useEffect(onTurn, [isBusy, onTurn])

  const send = async (form: FormData) => {
    const written = String(form.get('text'))
    if (isBusy) return change(server.sendWhileBusy(id, written, form.get('onBusy') === 'steer' ? 'steer' : 'queue'))
    const photo = form.get('photo')
    const files = photo instanceof File && photo.size > 0 ? [await server.toFilePart(photo)] : []
    setEdited(undefined)
    return act(sendMessage({ text: written, files, ...(edited === undefined ? {} : { messageId: edited.id }) }))
  }

  const edit = (message: SupportMessage) => {
    setEdited(message)
    if (text.current !== null) text.current.value = textOf(message)
  }

  return (
    <main>
      {messages.map((message) => (
        <article key={message.id} className={message.role}>
          {message.parts.map((part, n) => (
            <ShownPart key={n} part={part} />
          ))}
          {message.role === 'user' && !isBusy && (
            <button type="button" onClick={() => edit(message)}>
              Edit
            </button>
          )}
          {message === last && message.role === 'assistant' && !isBusy && (
            <button type="button" onClick={() => act(regenerate())}>
              Answer again
            </button>
          )}
        </article>
      ))}
      {queue.map(({ runId, content, onBusy }) => (
        <article key={runId} className="queued">
          {content.text} <small>{onBusy === 'steer' ? 'goes to this answer' : 'waits for its turn'}</small>
          <button
            type="button"
            onClick={() => {
              const changed = prompt('Message', content.text)
              if (changed !== null) void change(server.editQueued(runId, changed))
            }}
          >
            Edit
          </button>
          <button type="button" onClick={() => void change(server.withdrawQueued(runId))}>
            Withdraw
          </button>
        </article>
      ))}
      <form action={send}>
        <input ref={text} name="text" aria-label="message" defaultValue="refund A-17" />
        {isBusy ? (
          <select name="onBusy" aria-label="while the agent works">
            <option value="queue">after this answer</option>
            <option value="steer">into this answer</option>
          </select>
        ) : (
          <input name="photo" aria-label="photo" type="file" accept="image/*" />
        )}
        <button type="submit">{edited === undefined ? 'Send' : 'Send again'}</button>
        {isBusy && (
          <button type="button" onClick={() => act(server.stopAnswer(id).then(stop))}>
            Stop
          </button>
        )}
      </form>
      <p role="status">{refused || error?.message || status}</p>
    </main>
  )
}

function ShownPart({ part }: { part: Part }) {
  if (part.type === 'text') return <span>{part.text}</span>
  if (part.type === 'file') return <img src={part.url} alt={part.filename ?? 'photo'} width="80" />
  if (part.type === 'steering-message')
    return <p className="user">{part.parts.map((one) => (one.type === 'text' ? one.text : ''))}</p>
  if (part.type === 'tool-lookUpOrder') return <pre>{part.output?.what ?? 'looking up the order …'}</pre>
  if (part.type !== 'tool-refund') return null
  if (part.state !== 'approval-requested') return <pre>refund: {part.output?.refunded ?? part.state}</pre>
  const refund = `the refund of ${part.input.amount} for ${part.input.orderId}`
  const { assignee = 'user' } = (part.approval.descriptor ?? {}) as { assignee?: string }
  if (assignee !== 'user') return <p>Waiting for a colleague, who decides about {refund}.</p>
  return (
    <p>
      Do you agree to {refund}?
      {[true, false].map((approved) => (
        <button key={String(approved)} type="button" onClick={() => void server.decide(part.approval.id, approved)}>
          {approved ? 'Yes' : 'No'}
        </button>
      ))}
    </p>
  )
}
