import { useState } from 'preact/hooks'
import { mayChange, useApp } from '../app-context.ts'
import { jsonOrText } from '../parts/json-or-text.ts'
import { useAction } from '../parts/use-action.ts'

interface ClientAnswerProps {
  readonly runId: string
  readonly toolCallId: string
  readonly name: string
}

/** Gives the result of a tool that the client of the agent performs. */
export function ClientAnswer({ runId, toolCallId, name }: ClientAnswerProps) {
  const app = useApp()
  const { act, isBusy } = useAction()
  const [text, setText] = useState('')
  if (!mayChange(app, 'agents:invoke')) return null
  const send = (event: Event) => {
    event.preventDefault()
    void act(`Sent the result of ${name}`, () =>
      app.client.runs.resume(
        runId,
        { toolResults: [{ toolCallId, result: jsonOrText(text) }] },
        { prefer: 'respond-async' },
      ),
    )
  }
  return (
    <form class="decide" onSubmit={send}>
      <input
        type="text"
        aria-label={`Result of ${name}`}
        placeholder="Result, as text or JSON"
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <button type="submit" class="primary" disabled={isBusy || text === ''}>
        Send the result
      </button>
    </form>
  )
}
