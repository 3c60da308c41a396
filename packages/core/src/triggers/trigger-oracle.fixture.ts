import type { EpochMs } from '@perdure/ports'

/**
 * The time span in which `walkOccurrences` finds the occurrences of a five-field cron rule. `walkOccurrences` checks
 * every minute against the wall time that `Intl` reports, which is slow but independent of how the server computes
 * occurrences.
 */
export interface Window {
  readonly timezone: string
  readonly from: EpochMs
  readonly until: EpochMs
}

/** An instant and the wall times that are counted as occurring at that instant. */
interface Minute {
  readonly at: EpochMs
  readonly walls: readonly Wall[]
}

interface Wall {
  readonly minute: number
  readonly hour: number
  readonly day: number
  readonly month: number
  readonly weekday: number
}

const MINUTE = 60_000
const minutesByWindow = new Map<string, readonly Minute[]>()

/** A skipped wall time counts at the first minute after the gap; a repeated wall time counts only the first time. */
function minutesOf({ timezone, from, until }: Window): readonly Minute[] {
  const name = `${timezone} ${from} ${until}`
  const cached = minutesByWindow.get(name)
  if (cached !== undefined) return cached
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' })
  const minutes: Minute[] = []
  let shown: number | undefined
  for (let at = Math.ceil(from / MINUTE) * MINUTE; at < until; at += MINUTE) {
    const wall = Date.parse(`${format.format(at).replace(' ', 'T')}Z`)
    if (shown !== undefined && wall <= shown) continue
    const walls: Wall[] = []
    for (let minute = (shown ?? wall - MINUTE) + MINUTE; minute <= wall; minute += MINUTE) walls.push(toWall(minute))
    minutes.push({ at: at as EpochMs, walls })
    shown = wall
  }
  minutesByWindow.set(name, minutes)
  return minutes
}

function toWall(at: number): Wall {
  const date = new Date(at)
  return {
    minute: date.getUTCMinutes(),
    hour: date.getUTCHours(),
    day: date.getUTCDate(),
    month: date.getUTCMonth() + 1,
    weekday: date.getUTCDay(),
  }
}

export function walkOccurrences(cron: string, window: Window): readonly EpochMs[] {
  const matches = matcherOf(cron)
  return minutesOf(window).flatMap(({ at, walls }) => (walls.some(matches) ? [at] : []))
}

const LIMITS = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const

function matcherOf(cron: string): (wall: Wall) => boolean {
  const texts = cron.split(' ')
  const none: ReadonlySet<number> = new Set()
  const [minutes = none, hours = none, days = none, months = none, weekdays = none] = texts.map((text, index) =>
    valuesOf(text, LIMITS[index] ?? [0, 0]),
  )
  const matchesEitherDay = texts[2] !== '*' && texts[4] !== '*'
  return ({ minute, hour, day, month, weekday }) => {
    if (!minutes.has(minute) || !hours.has(hour) || !months.has(month)) return false
    const isWeekday = weekdays.has(weekday) || (weekday === 0 && weekdays.has(7))
    return matchesEitherDay ? days.has(day) || isWeekday : days.has(day) && isWeekday
  }
}

function valuesOf(text: string, [min, max]: readonly [number, number]): ReadonlySet<number> {
  const values = new Set<number>()
  for (const item of text.split(',')) {
    const [range = '', step = '1'] = item.split('/')
    const [low, high] = range === '*' ? [min, max] : range.split('-').map(Number)
    const from = low ?? min
    const to = high ?? (item.includes('/') ? max : from)
    for (let value = from; value <= to; value += Number(step)) values.add(value)
  }
  return values
}
