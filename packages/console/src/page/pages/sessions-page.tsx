import { useState } from 'preact/hooks'
import { may, useApp } from '../app-context.ts'
import { Empty, Heading, shortId } from '../parts/basics.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Paged, usePages } from '../parts/paged.tsx'
import { Ago } from '../parts/time.tsx'
import { useReloadOnSubject } from '../parts/use-reload.ts'
import { hrefOf } from '../route.ts'

/** Conversations. */
export function SessionsPage() {
  const { client } = useApp()
  const loaded = usePages((cursor) => client.sessions.list({ limit: 50, cursor }), [])
  return (
    <>
      <Heading title="Sessions" />
      <Paged loaded={loaded}>
        {(sessions) => (
          <DataTable
            rows={sessions}
            keyOf={({ id }) => id}
            caption="Sessions, newest first"
            empty="There are no sessions. A run that names a session creates it."
            columns={[
              {
                head: 'Session',
                cell: ({ id }) => (
                  <a class="id" href={hrefOf(['sessions', id])} title={id}>
                    {shortId(id)}
                  </a>
                ),
              },
              { head: 'Title', cell: ({ title }) => title },
              { head: 'User', cell: ({ userId }) => userId },
              { head: 'Agent', cell: ({ agentId }) => agentId },
              { head: 'Last change', cell: ({ updatedAt }) => <Ago at={updatedAt} />, isNumber: true },
            ]}
          />
        )}
      </Paged>
    </>
  )
}

/** The transcript of one session; new messages appear as they are written. */
export function SessionPage({ sessionId }: { readonly sessionId: string }) {
  const app = useApp()
  const { client } = app
  const loaded = usePages((cursor) => client.sessions.messages(sessionId, { limit: 50, cursor }), [sessionId])
  useReloadOnSubject(`session:${sessionId}/events`, ({ type }) => type === 'session.message', loaded.reload)
  return (
    <>
      <Heading
        title={
          <>
            <span class="crumb">
              <a href="#/sessions">Sessions</a> /{' '}
            </span>
            <span class="id">{sessionId}</span>
          </>
        }
      >
        {may(app, 'runs:read') ? <a href={hrefOf(['runs'], { session: sessionId })}>Runs of this session</a> : null}
      </Heading>
      <Paged loaded={loaded}>
        {(messages) =>
          messages.length === 0 ? <Empty>This session has no messages.</Empty> : <Transcript messages={messages} />
        }
      </Paged>
    </>
  )
}

interface Message {
  readonly id: string
  readonly seq: number
  readonly role: string
  readonly content: unknown
  readonly runId?: string | undefined
  readonly createdAt: string
}

/** The loaded messages, newest first; the slider shows the conversation as it was at a point in time. */
function Transcript({ messages }: { readonly messages: readonly Message[] }) {
  const [upTo, setUpTo] = useState<number | undefined>(undefined)
  const inOrder = messages.toSorted((one, other) => one.seq - other.seq)
  const count = upTo === undefined ? inOrder.length : Math.min(upTo, inOrder.length)
  const last = inOrder[count - 1]
  return (
    <>
      {inOrder.length < 2 ? null : (
        <label class="replay">
          Replay
          <input
            type="range"
            min={1}
            max={inOrder.length}
            value={count}
            aria-valuetext={`message ${count} of ${inOrder.length}`}
            onInput={({ currentTarget }) => {
              const chosen = Number(currentTarget.value)
              // At the end, new messages are shown as they arrive.
              setUpTo(chosen === inOrder.length ? undefined : chosen)
            }}
          />
          <span class="quiet">
            message {count} of {inOrder.length}
            {last === undefined ? '' : `, ${timeText(last.createdAt)}`}
          </span>
        </label>
      )}
      <ol class="chat">
        {inOrder.slice(0, count).map(({ id, seq, role, content, runId, createdAt }) => (
          <li key={id} class={`by-${role}`}>
            <div class="quiet">
              <strong>{role}</strong> <Ago at={createdAt} />{' '}
              {runId === undefined ? null : <a href={hrefOf(['runs', runId], { tab: 'messages' })}>run</a>}
            </div>
            <JsonView value={content} label={`Message ${seq} by the ${role}`} />
          </li>
        ))}
      </ol>
    </>
  )
}

const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const timeText = (at: string): string => FULL.format(new Date(at))
