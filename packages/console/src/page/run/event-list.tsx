import { useState } from 'preact/hooks'
import type { Event } from '../client/resources.ts'
import { Empty, shortId } from '../parts/basics.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { clockText } from '../parts/time.tsx'
import { Windowed } from '../parts/windowed.tsx'
import { hrefOf } from '../route.ts'

const ROW = 26
const MAX_HEIGHT = 520

/** Events in order; the selected one is shown whole. */
export function EventList({
  events,
  followsEnd,
  label,
  empty = 'No events yet.',
  namesRuns = false,
}: {
  readonly events: readonly Event[]
  readonly followsEnd: boolean
  readonly label: string
  readonly empty?: string
  /** Whether each row names the agent or workflow and the run. */
  readonly namesRuns?: boolean
}) {
  const [selected, setSelected] = useState<Event | undefined>(undefined)
  if (events.length === 0) return <Empty>{empty}</Empty>
  return (
    <div class={selected === undefined ? '' : 'split'}>
      <Windowed
        count={events.length}
        rowHeight={ROW}
        maxHeight={MAX_HEIGHT}
        label={label}
        followsEnd={followsEnd && selected === undefined}
        row={(index) => {
          const event = events[index]
          return event === undefined ? null : (
            <button
              type="button"
              class="event-row"
              aria-pressed={event === selected}
              title={event.eventId}
              onClick={() => setSelected(event === selected ? undefined : event)}
            >
              <span class="quiet">{clockText(event.at)}</span>
              {namesRuns ? <Whose event={event} /> : null}
              <span class={`type ${/fail|error|abort/.test(event.type) ? 'bad-text' : ''}`}>{event.type}</span>
              <span class="quiet gist">{gistOf(event)}</span>
            </button>
          )
        }}
      />
      {selected === undefined ? null : (
        <aside class="detail" aria-label="Selected event">
          {selected.runId === undefined ? null : (
            <p class="actions">
              <a href={hrefOf(['runs', selected.runId])}>Run {shortId(selected.runId)}</a>
              {namesRuns && OWNER.test(selected.subject) ? (
                <a href={hrefOf(['live'], { subject: runSubject(selected) })}>All events of the run</a>
              ) : null}
            </p>
          )}
          <JsonView value={selected} label="The event as JSON" />
        </aside>
      )}
    </div>
  )
}

/** The agent or workflow, or what else the event is about, and the run. */
function Whose({ event: { subject, runId } }: { readonly event: Event }) {
  return (
    <>
      <span class="whose">{targetIn(subject)}</span>
      <span class="quiet whose id">{runId === undefined ? '' : shortId(runId)}</span>
    </>
  )
}

/** Such as `support` for `agent:support/runs/run_1/events`, and `approvals` for `approvals/events`. */
const targetIn = (subject: string): string => subject.split('/')[0]?.replace(/^\w+:/, '') ?? subject

/** The subjects that name the agent, workflow or session of a run. */
const OWNER = /^(agent|workflow|session):/

/** The subject with every event of the run, also for an event of its agent. */
const runSubject = ({ subject, runId }: Event): string => `${subject.split('/')[0]}/runs/${runId}/events`

const GIST = 160

/** The part of an event that tells it apart, on one line. */
function gistOf({ payload }: Event): string {
  if (typeof payload !== 'object' || payload === null) return String(payload ?? '')
  const { runId: _, ...rest } = payload as Readonly<Record<string, unknown>>
  const text = JSON.stringify(rest)
  return text.length > 2 ? text.slice(0, GIST) : ''
}
