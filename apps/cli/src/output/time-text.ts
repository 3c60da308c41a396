const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
]

/** `3 min ago`, `in 2 h`, `now`. */
export function relativeText(iso: string | null | undefined, now: number = Date.now()): string {
  if (iso === null || iso === undefined) return '-'
  const distance = Date.parse(iso) - now
  const [name, ms] = UNITS.find(([, unit]) => Math.abs(distance) >= unit) ?? ['', 0]
  if (ms === 0) return 'now'
  const count = Math.floor(Math.abs(distance) / ms)
  return distance < 0 ? `${count} ${name} ago` : `in ${count} ${name}`
}

/** `38 ms`, `4.2 s`, `3 min 5 s`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  const [minutes, seconds] = [Math.floor(ms / 60_000), Math.floor((ms % 60_000) / 1_000)]
  return minutes < 60 ? `${minutes} min ${seconds} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
