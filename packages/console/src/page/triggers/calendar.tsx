import { useState } from 'preact/hooks'
import type { Fire, Trigger } from '../api/resources.ts'
import { Scroll } from '../parts/scroll.tsx'
import { hrefOf } from '../route.ts'
import { type Day, dateIn, timeIn, weeksOf } from './month.ts'

const SHOWN_PER_DAY = 4
const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const MARKS: Readonly<Record<Fire['status'], string>> = {
  pending: '◷',
  started: '▶',
  completed: '✓',
  failed: '✕',
  skipped: '–',
  missed: '○',
}

interface Entry {
  readonly at: string
  readonly status: Fire['status'] | 'future'
  readonly runId?: string | undefined
  readonly reason?: string | undefined
}

/** The past fires of a trigger by their outcome, and the coming ones, in the time zone of the trigger. */
export function Calendar({
  trigger,
  fires,
  upcoming,
}: {
  readonly trigger: Trigger
  readonly fires: readonly Fire[]
  readonly upcoming: readonly { readonly at: string }[]
}) {
  const timeZone = trigger.timezone ?? 'UTC'
  const dateOf = dateIn(timeZone)
  const [offset, setOffset] = useState(0)
  const [year = 0, month = 1] = dateOf(new Date().toISOString()).split('-').map(Number)
  const weeks = weeksOf(year, month - 1 + offset, timeZone)
  const title = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    Date.UTC(year, month - 1 + offset, 1),
  )
  const entries: readonly Entry[] = [
    ...fires.map(({ scheduledAt, status, runId, reason }) => ({ at: scheduledAt, status, runId, reason })),
    ...upcoming.map(({ at }) => ({ at, status: 'future' as const })),
  ].sort((a, b) => a.at.localeCompare(b.at))
  const byDate = Map.groupBy(entries, ({ at }) => dateOf(at))
  return (
    <div class="calendar">
      <div class="bar-tools">
        <button type="button" aria-label="Previous month" onClick={() => setOffset(offset - 1)}>
          ‹
        </button>
        <strong aria-live="polite">{title}</strong>
        <button type="button" aria-label="Next month" onClick={() => setOffset(offset + 1)}>
          ›
        </button>
        <span class="quiet">times in {timeZone}</span>
      </div>
      <Scroll label={`Fires in ${title}`}>
        <table>
          <caption class="hidden">Fires in {title}</caption>
          <thead>
            <tr>
              {WEEKDAYS.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {weeks.map((week) => (
              <tr key={week[0]?.date}>
                {week.map((day) => (
                  <DayCell key={day.date} day={day} entries={byDate.get(day.date) ?? []} timeZone={timeZone} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </div>
  )
}

function DayCell({
  day,
  entries,
  timeZone,
}: {
  readonly day: Day
  readonly entries: readonly Entry[]
  readonly timeZone: string
}) {
  const timeOf = timeIn(timeZone)
  return (
    <td class={`day ${day.isOfMonth ? '' : 'other-month'} ${day.isClockChange ? 'clock-change' : ''}`}>
      <span class="quiet">{day.dayOfMonth}</span>
      {day.isClockChange ? <span class="change-note">clocks change</span> : null}
      {entries.slice(0, SHOWN_PER_DAY).map((entry) => (
        <div key={entry.at} class={`fire fire-${entry.status}`} title={entry.reason ?? `${entry.status} ${entry.at}`}>
          {entry.runId === undefined ? (
            <FireText entry={entry} time={timeOf(entry.at)} />
          ) : (
            <a href={hrefOf(['runs', entry.runId])}>
              <FireText entry={entry} time={timeOf(entry.at)} />
            </a>
          )}
        </div>
      ))}
      {entries.length > SHOWN_PER_DAY ? <div class="quiet">+ {entries.length - SHOWN_PER_DAY} more</div> : null}
    </td>
  )
}

function FireText({ entry: { status }, time }: { readonly entry: Entry; readonly time: string }) {
  return (
    <>
      <span aria-hidden="true">{status === 'future' ? '·' : MARKS[status]}</span> {time}
      <span class="hidden"> {status === 'future' ? 'will fire' : status}</span>
    </>
  )
}
