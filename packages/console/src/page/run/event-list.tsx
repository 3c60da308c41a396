import { useState } from 'preact/hooks'
import type { Event } from '../api/resources.ts'
import { Empty } from '../parts/basics.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { clockText } from '../parts/time.tsx'
import { Windowed } from '../parts/windowed.tsx'

const ROW = 26
const MAX_HEIGHT = 520

/** Events in order; the selected one is shown whole. */
export function EventList({
  events,
  followsEnd,
  label,
  empty = 'No events yet.',
}: {
  readonly events: readonly Event[]
  readonly followsEnd: boolean
  readonly label: string
  readonly empty?: string
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
              <span class={`type ${/fail|error|abort/.test(event.type) ? 'bad-text' : ''}`}>{event.type}</span>
              <span class="quiet gist">{gistOf(event)}</span>
            </button>
          )
        }}
      />
      {selected === undefined ? null : (
        <aside class="detail" aria-label="Selected event">
          <JsonView value={selected} label="The event as JSON" />
        </aside>
      )}
    </div>
  )
}

const GIST = 160

/** The part of an event that tells it apart, on one line. */
function gistOf({ payload }: Event): string {
  if (typeof payload !== 'object' || payload === null) return String(payload ?? '')
  const { runId: _, ...rest } = payload as Readonly<Record<string, unknown>>
  const text = JSON.stringify(rest)
  return text.length > 2 ? text.slice(0, GIST) : ''
}
