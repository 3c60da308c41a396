import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport, type FileUIPart, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'
import { createChatFetch } from 'perdure/client'
import { createRoot } from 'react-dom/client'
import type { SupportMessage } from './support-agent.ts'

const api = '/v1/agents/support/chat'
localStorage.chat ??= `chat-${Date.now()}`
const id: string = localStorage.chat
const transport = new DefaultChatTransport<SupportMessage>({ api: `${api}?v=7`, fetch: createChatFetch() })

type Part = SupportMessage['parts'][number]

function Chat({ earlier }: { earlier: SupportMessage[] }) {
  const { messages, status, error, sendMessage, addToolApprovalResponse } = useChat<SupportMessage>({
    id,
    messages: earlier,
    resume: true,
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  })
  const decide = (approvalId: string, approved: boolean) => addToolApprovalResponse({ id: approvalId, approved })
  const send = async (form: FormData) => {
    const photo = form.get('photo')
    const files = photo instanceof File && photo.size > 0 ? [await toFilePart(photo)] : []
    sendMessage({ text: String(form.get('text')), files })
  }
  return (
    <>
      {messages.map(({ id, role, parts }) => (
        <article key={id}>
          <b>{role}</b>{' '}
          {parts.map((part, n) => (
            <ShownPart key={n} {...{ part, decide }} />
          ))}
        </article>
      ))}
      <form action={send}>
        <input name="text" aria-label="message" defaultValue="refund A-17" />
        <input name="photo" aria-label="photo" type="file" accept="image/*" />
        <button type="submit" disabled={status === 'submitted' || status === 'streaming'}>
          Send
        </button>
      </form>
      <p role="status">{error ? error.message : status}</p>
    </>
  )
}

/** The photo as a part of the message, so that the server stores it and the model receives it. */
function toFilePart(photo: File): Promise<FileUIPart> {
  const { promise, resolve, reject } = Promise.withResolvers<FileUIPart>()
  const reader = new FileReader()
  reader.onload = () =>
    resolve({ type: 'file', mediaType: photo.type, filename: photo.name, url: String(reader.result) })
  reader.onerror = () => reject(reader.error)
  reader.readAsDataURL(photo)
  return promise
}

function ShownPart({ part, decide }: { part: Part; decide: (approvalId: string, approved: boolean) => void }) {
  if (part.type === 'text') return <span>{part.text}</span>
  if (part.type === 'file') return <img src={part.url} alt={part.filename ?? 'photo'} width="80" />
  if (part.type === 'tool-lookUpOrder') return <pre>{part.output?.what ?? 'looking up the order …'}</pre>
  if (part.type !== 'tool-refund') return null
  if (part.state !== 'approval-requested') return <pre>refund: {part.output?.refunded ?? part.state}</pre>
  const { approval, input } = part
  return (
    <fieldset>
      <legend>
        Refund {input.amount} for {input.orderId}?
      </legend>
      <button type="button" onClick={() => decide(approval.id, true)}>
        Approve
      </button>
      <button type="button" onClick={() => decide(approval.id, false)}>
        Deny
      </button>
    </fieldset>
  )
}

const root = createRoot(document.querySelector('#page') as HTMLElement)
const read = await fetch(`${api}/${id}/messages`)
if (read.ok) root.render(<Chat earlier={await read.json()} />)
else root.render(<p role="status">{(await read.text()) || read.statusText}</p>)
