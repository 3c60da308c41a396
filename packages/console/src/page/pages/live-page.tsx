import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useApp } from '../app-context.ts'
import { type Failure, failureOf } from '../client/failure.ts'
import type { Event } from '../client/resources.ts'
import { createEventBuffer } from '../live/event-buffer.ts'
import { FailureNote, Heading } from '../parts/basics.tsx'
import { createDrawPace } from '../parts/draw-pace.ts'
import { replaceQuery } from '../route.ts'
import { EventList } from '../run/event-list.tsx'

const KEPT = 10_000

/** Events as they happen. */
export function LivePage() {
  const { client, feed, route } = useApp()
  const subject = route.query.subject ?? ''
  const [type, setType] = useState('')
  const [isPaused, setPaused] = useState(false)
  const [, setFrame] = useState(0)
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const [shown, setShown] = useState<readonly Event[]>([])
  const buffer = useMemo(() => createEventBuffer(KEPT), [subject])
  const rate = useRate()
  const paused = useRef(isPaused)
  paused.current = isPaused

  useEffect(() => {
    const ending = new AbortController()
    const pace = createDrawPace(() => {
      if (paused.current) return
      setShown(buffer.items())
      setFrame((frame) => frame + 1)
    })
    const onEvent = (event: Event) => {
      buffer.add(event)
      rate.count()
      pace.drawSoon()
    }
    setShown([])
    setFailure(undefined)
    if (subject === '') {
      const stop = feed.listen(onEvent)
      ending.signal.addEventListener('abort', stop)
    } else {
      const read = async () => {
        const subscription = client.subscribe(subject, { signal: ending.signal, bufferSize: KEPT })
        for await (const item of subscription) if (item.type === 'event') onEvent(item.event)
      }
      read().catch((error) => ending.signal.aborted || setFailure(failureOf(error)))
    }
    return () => {
      pace.stop()
      ending.abort()
    }
  }, [client, feed, subject, buffer])

  const resume = () => {
    setPaused(!isPaused)
    setShown(buffer.items())
  }
  const events = type === '' ? shown : shown.filter((event) => event.type.includes(type))
  return (
    <>
      <Heading title="Live">
        <span class="quiet" aria-live="off">
          {rate.perSecond()} events/s
          {buffer.dropped() === 0 ? '' : ` · ${buffer.dropped().toLocaleString()} older discarded`}
        </span>
        <button type="button" aria-pressed={isPaused} onClick={resume}>
          {isPaused ? 'Continue' : 'Pause'}
        </button>
        <button
          type="button"
          onClick={() => {
            buffer.clear()
            setShown([])
          }}
        >
          Clear
        </button>
      </Heading>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Subject
          <input
            type="text"
            list="subjects"
            placeholder="any subject"
            defaultValue={subject}
            onChange={({ currentTarget }) => replaceQuery(route, { subject: currentTarget.value.trim() })}
          />
          <SubjectList />
        </label>
        <label>
          Type contains
          <input
            type="text"
            placeholder="such as failed"
            value={type}
            onInput={({ currentTarget }) => setType(currentTarget.value)}
          />
        </label>
      </form>
      {failure === undefined ? null : <FailureNote failure={failure} />}
      <EventList
        events={events}
        followsEnd={!isPaused}
        label="Events, oldest first"
        namesRuns
        empty="No events since you opened this page. They appear as they happen."
      />
      {subject === '' ? (
        <p class="quiet">
          The subjects of agents and workflows have the status changes of their runs. Select an event to follow all
          events of its run.
        </p>
      ) : null}
      <p class="quiet">
        Last event id: <code>{feed.lastEventId.get() ?? 'none yet'}</code>
      </p>
    </>
  )
}

function SubjectList() {
  const { targets } = useApp()
  return (
    <datalist id="subjects">
      {targets.map(({ kind, id }) => (
        <option key={`${kind}:${id}`} value={`${kind}:${id}/events`} />
      ))}
      <option value="approvals/events" />
      <option value="audit/events" />
      <option value="memory/events" />
    </datalist>
  )
}

/** Counts events, per second. */
function useRate() {
  const counted = useRef(0)
  const [perSecond, setPerSecond] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => {
      setPerSecond(counted.current)
      counted.current = 0
    }, 1_000)
    return () => clearInterval(timer)
  }, [])
  return { count: () => void counted.current++, perSecond: () => perSecond }
}
