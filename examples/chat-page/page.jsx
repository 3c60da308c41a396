import { useChat } from '@ai-sdk/react'
import { createChatFetch } from '@perdure/client'
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from 'ai'
import { createRoot } from 'react-dom/client'

const api = '/v1/agents/clerk/chat'
localStorage.chat ??= `chat-${Date.now()}`
const id = localStorage.chat

const transport = new DefaultChatTransport({ api: `${api}?v=7`, fetch: createChatFetch() })

function Chat({ earlier }) {
  const { messages, status, error, sendMessage, addToolApprovalResponse, addToolOutput } = useChat({
    id,
    messages: earlier,
    resume: true,
    transport,
    sendAutomaticallyWhen: (chat) =>
      !isAsking(chat.messages) &&
      (lastAssistantMessageIsCompleteWithApprovalResponses(chat) || lastAssistantMessageIsCompleteWithToolCalls(chat)),
  })
  const decide = (part, approved) => addToolApprovalResponse({ id: part.approval.id, approved })
  const pick = ({ toolCallId, toolName }, output) => addToolOutput({ toolCallId, tool: toolName, output })

  // A new message would start another run, and leave the question of this one without an answer.
  const isBusy = status === 'submitted' || status === 'streaming'
  const send = (form) => {
    sendMessage({ text: form.get('text') })
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

const isAsking = (messages) =>
  messages.at(-1)?.parts.some((part) => asksForApproval(part) || asksForColor(part)) ?? false
const asksForApproval = ({ state }) => state === 'approval-requested'
const asksForColor = ({ toolName, state }) => toolName === 'pickColor' && state === 'input-available'

function Part({ part, decide, pick }) {
  if (part.type === 'text') return <span>{part.text}</span>
  if (part.type !== 'dynamic-tool') return null
  const { toolName, title, state, input, output } = part
  if (asksForApproval(part)) {
    return (
      <fieldset>
        <legend>{title ?? toolName}</legend>
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
        {input.of.map((color) => (
          <button type="button" key={color} onClick={() => pick(part, color)}>
            {color}
          </button>
        ))}
      </fieldset>
    )
  }
  return (
    <pre>
      {toolName}: {output === undefined ? state : JSON.stringify(output)}
    </pre>
  )
}

const root = createRoot(document.querySelector('#page'))
const read = await fetch(`${api}/${id}/messages`)
if (read.ok) root.render(<Chat earlier={await read.json()} />)
else root.render(<p role="status">{(await read.text()) || read.statusText}</p>)
