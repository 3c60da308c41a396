import { useEffect, useState } from 'preact/hooks'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

export function durationText(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`
  if (ms < MINUTE) return `${(ms / SECOND).toFixed(ms < 10 * SECOND ? 2 : 1)} s`
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ${Math.floor((ms % MINUTE) / SECOND)} s`
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ${Math.floor((ms % HOUR) / MINUTE)} min`
  return `${Math.floor(ms / DAY)} d ${Math.floor((ms % DAY) / HOUR)} h`
}

function relativeText(at: number, now: number): string {
  const ms = Math.abs(now - at)
  if (ms < 5 * SECOND) return 'now'
  const [count, unit] =
    ms < MINUTE
      ? [ms / SECOND, 's']
      : ms < HOUR
        ? [ms / MINUTE, 'min']
        : ms < 2 * DAY
          ? [ms / HOUR, 'h']
          : [ms / DAY, 'd']
  const text = `${Math.floor(count)} ${unit}`
  return at > now ? `in ${text}` : `${text} ago`
}

/** The time, read again once per interval; without an interval, the time of the first reading. */
export function useNow(intervalMs: number | undefined): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (intervalMs === undefined) return
    const timer = setInterval(() => setNow(Date.now()), intervalMs)
    return () => clearInterval(timer)
  }, [intervalMs])
  return now
}

const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** A point in time, relative to now; the exact time in the tooltip. */
export function Ago({ at }: { readonly at: string | null | undefined }) {
  const now = useNow(5_000)
  if (at === undefined || at === null) return <span class="quiet">–</span>
  return (
    <time dateTime={at} title={FULL.format(new Date(at))}>
      {relativeText(Date.parse(at), now)}
    </time>
  )
}

/** The time between two points; the end is now until it is known. */
export function Took({ from, to }: { readonly from: string | undefined; readonly to: string | undefined }) {
  const now = useNow(to === undefined ? 1_000 : undefined)
  if (from === undefined) return <span class="quiet">–</span>
  return <span>{durationText(Math.max(0, (to === undefined ? now : Date.parse(to)) - Date.parse(from)))}</span>
}

const CLOCK = new Intl.DateTimeFormat(undefined, {
  ...{ hour: 'numeric', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 },
})

/** The time of day, with milliseconds. */
export const clockText = (at: string): string => CLOCK.format(new Date(at))
