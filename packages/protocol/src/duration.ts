const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const

/** A number of milliseconds, or a number with a unit: `'250ms'`, `'30s'`, `'15m'`, `'12h'`, `'1d'`, `'2w'`. */
export type Duration = number | `${number}${keyof typeof UNITS}`

/** The accepted forms, for error messages. */
export const DURATION_FORMS = "a number of milliseconds, or a text such as '250ms', '30s', '15m', '12h', '1d' or '2w'"

/** A number with a unit. */
export const DURATION_TEXT = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/

/** The whole milliseconds of a duration, rounded up; `undefined` if the value has none of the accepted forms. */
export function toMilliseconds(duration: unknown): number | undefined {
  if (typeof duration === 'number') return duration >= 0 ? Math.ceil(duration) : undefined
  const [, count, unit] = (typeof duration === 'string' && DURATION_TEXT.exec(duration)) || []
  return count === undefined ? undefined : Math.ceil(Number(count) * UNITS[unit as keyof typeof UNITS])
}
