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
        {parts.map((part, at) => (
          <li key={part.id}>
            <Part part={part} number={at + 1} />
          </li>
        ))}
      </ol>
      {parts.length === 0 ? (
        <Empty>The run has sent no text and called no tool. Its result is under Input and result.</Empty>
      ) : null}
    </>
  )
}

/** @param number tells parts with the same text apart */
function Part({ part, number }: { readonly part: MessagePart; readonly number: number }) {
  if (part.kind === 'tool') return <ToolCard call={part} number={number} />
  if (part.kind === 'text') {
    return (
      <>
        <div class="quiet">
          <strong>answer</strong>
        </div>
        <JsonView value={part.text} label={`Text of the answer, part ${number}`} />
      </>
    )
  }
  return (
    <details>
      <summary class="quiet">reasoning</summary>
      <JsonView value={part.text} label={`Reasoning, part ${number}`} />
    </details>
  )
}

interface ToolCardProps {
  readonly call: Extract<MessagePart, { readonly kind: 'tool' }>
  readonly number: number
}

function ToolCard({ call: { name, args, answer }, number }: ToolCardProps) {
  return (
    <details>
      <summary>
        <span class="quiet">tool</span> {name}
        {answer === undefined ? <span class="quiet"> · no result yet</span> : null}
      </summary>
      {args === undefined ? null : <JsonView value={args} label={`Arguments of ${name}, part ${number}`} />}
      {answer === undefined ? null : <JsonView value={answer} label={`Result of ${name}, part ${number}`} />}
    </details>
  )
}
