import { useMemo } from 'preact/hooks'
import type { Run } from '../api/resources.ts'
import { Empty } from '../parts/basics.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { type MessagePart, messagesOf } from './message-fold.ts'
import type { RunLog } from './run-feed.ts'

/** What a reader of a chat would see: the input, the answer as it grows, the reasoning and the tools. */
export function MessagesTab({ run, log }: { readonly run: Run; readonly log: RunLog }) {
  const parts = useMemo(() => messagesOf(log.events), [log.version])
  return (
    <>
      <ol class="chat">
        <li class="by-user">
          <div class="quiet">
            <strong>input</strong>
          </div>
          <JsonView value={run.input ?? null} label="Input of the run" />
        </li>
        {parts.map((part) => (
          <li key={part.id}>
            <Part part={part} />
          </li>
        ))}
      </ol>
      {parts.length === 0 ? (
        <Empty>The run has sent no text and called no tool. Its result is under Input and result.</Empty>
      ) : null}
    </>
  )
}

function Part({ part }: { readonly part: MessagePart }) {
  if (part.kind === 'tool') return <ToolCard {...part} />
  if (part.kind === 'text') {
    return (
      <>
        <div class="quiet">
          <strong>answer</strong>
        </div>
        <JsonView value={part.text} label="Text of the answer" />
      </>
    )
  }
  return (
    <details>
      <summary class="quiet">reasoning</summary>
      <JsonView value={part.text} label="Reasoning" />
    </details>
  )
}

function ToolCard({ name, args, answer }: Extract<MessagePart, { readonly kind: 'tool' }>) {
  return (
    <details>
      <summary>
        <span class="quiet">tool</span> {name}
        {answer === undefined ? <span class="quiet"> · no result yet</span> : null}
      </summary>
      {args === undefined ? null : <JsonView value={args} label={`Arguments of ${name}`} />}
      {answer === undefined ? null : <JsonView value={answer} label={`Result of ${name}`} />}
    </details>
  )
}
