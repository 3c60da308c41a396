import { useMemo, useState } from 'preact/hooks'
import type { Run } from '../client/resources.ts'
import { messagesOf } from '../conversation/message-fold.ts'
import { isShownApart, PartView, SentView } from '../conversation/part-view.tsx'
import { Empty } from '../parts/basics.tsx'
import { clockText } from '../parts/time.tsx'
import type { RunLog } from './run-feed.ts'

/** What a reader of a chat would see: the input, the answer as it grows, the reasoning and the tools. */
export function MessagesTab({ run, log }: { readonly run: Run; readonly log: RunLog }) {
  const [upTo, setUpTo] = useState<number | undefined>(undefined)
  const count = Math.min(upTo ?? log.events.length, log.events.length)
  const parts = useMemo(() => messagesOf(log.events.slice(0, count)).filter(isShownApart), [log.version, count])
  const last = log.events[count - 1]
  return (
    <>
      {log.events.length < 2 ? null : (
        <label class="replay">
          Replay
          <input
            type="range"
            min={1}
            max={log.events.length}
            value={count}
            aria-valuetext={`event ${count} of ${log.events.length}`}
            onInput={({ currentTarget }) => {
              const chosen = Number(currentTarget.value)
              // At the end, new events are shown as they arrive.
              setUpTo(chosen === log.events.length ? undefined : chosen)
            }}
          />
          <span class="quiet">
            event {count.toLocaleString()} of {log.events.length.toLocaleString()}
            {last === undefined ? '' : `, ${clockText(last.at)}`}
          </span>
        </label>
      )}
      <ol class="chat">
        <li class="by-user">
          <div class="quiet">
            <strong>input</strong>
          </div>
          <SentView content={run.input ?? null} label="Input of the run" />
        </li>
        {parts.map((part, at) => (
          <li key={`${part.kind} ${part.id}`}>
            <PartView part={part} number={at + 1} runId={run.id} isWaiting={run.status === 'suspended'} />
          </li>
        ))}
      </ol>
      {log.events.length > 0 && parts.length === 0 ? (
        <Empty>The run has sent no text and called no tool. Its result is under Input and result.</Empty>
      ) : null}
    </>
  )
}
