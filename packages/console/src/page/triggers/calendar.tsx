import { useState } from 'preact/hooks'
import type { Fire, Trigger } from '../client/resources.ts'
import { Scroll } from '../parts/scroll.tsx'
import { hrefOf } from '../route.ts'
import { type Day, dateIn, timeIn, weekOf, weeksOf } from './month.ts'

const SHOWN_PER_DAY = 4
const MAX_PER_DAY_OF_WEEK = 100
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
  const [unit, setUnit] = useState<'month' | 'week'>('month')
  const [offset, setOffset] = useState(0)
  const today = dateOf(new Date().toISOString())
  const [year = 0, month = 1] = today.split('-').map(Number)
  const weeks = unit === 'week' ? [weekOf(today, offset, timeZone)] : weeksOf(year, month - 1 + offset, timeZone)
  const title = unit === 'week' ? weekTitle(weeks[0] ?? []) : MONTH.format(Date.UTC(year, month - 1 + offset, 1))
  const show = (next: 'month' | 'week') => {
    setUnit(next)
    setOffset(0)
  }
  const entries: readonly Entry[] = [
    ...fires.map(({ scheduledAt, status, runId, reason }) => ({ at: scheduledAt, status, runId, reason })),
    ...upcoming.map(({ at }) => ({ at, status: 'future' as const })),
  ].sort((a, b) => a.at.localeCompare(b.at))
  const byDate = Map.groupBy(entries, ({ at }) => dateOf(at))
  return (
    <div class="calendar">
      <div class="bar-tools">
        <button type="button" aria-label={`Previous ${unit}`} onClick={() => setOffset(offset - 1)}>
          ‹
        </button>
        <strong aria-live="polite">{title}</strong>
        <button type="button" aria-label={`Next ${unit}`} onClick={() => setOffset(offset + 1)}>
          ›
        </button>
        <button type="button" aria-pressed={unit === 'month'} onClick={() => show('month')}>
          Month
        </button>
        <button type="button" aria-pressed={unit === 'week'} onClick={() => show('week')}>
          Week
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
                  <DayCell key={day.date} day={day} entries={byDate.get(day.date) ?? []} {...{ timeZone, unit }} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </div>
  )
}

const MONTH = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' })
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })

const weekTitle = (week: readonly Day[]): string =>
  [week[0], week.at(-1)].map((day) => (day === undefined ? '' : DAY.format(Date.parse(day.date)))).join(' – ')

function DayCell({
  day,
  entries,
  timeZone,
  unit,
}: {
  readonly unit: 'month' | 'week'
  readonly day: Day
  readonly entries: readonly Entry[]
  readonly timeZone: string
}) {
  const timeOf = timeIn(timeZone)
  const shown = unit === 'week' ? MAX_PER_DAY_OF_WEEK : SHOWN_PER_DAY
  return (
    <td
      data-date={day.date}
      class={`day ${day.isOfMonth ? '' : 'other-month'} ${day.isClockChange ? 'clock-change' : ''}`}
    >
      <span class="quiet">{day.dayOfMonth}</span>
      {day.isClockChange ? <span class="change-note">clocks change</span> : null}
      {entries.slice(0, shown).map((entry) => (
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
      {entries.length > shown ? <div class="quiet">+ {entries.length - shown} more</div> : null}
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
