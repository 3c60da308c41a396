/** What a client prefers of an operation that takes its time. */
export interface Preferences {
  /** `accepted`: answer at once; `outcome`: wait for it. */
  readonly answer: 'outcome' | 'accepted'
  /** How long to wait for the outcome. Milliseconds. */
  readonly waitMs: number | undefined
  /** Value of Preference-Applied; empty when nothing was preferred. */
  readonly applied: string
}

const MAX_WAIT_SECONDS = 600
const NO_PREFERENCES: Preferences = { answer: 'outcome', waitMs: undefined, applied: '' }

/**
 * Reads a Prefer header. `wait` goes before `respond-async`: the answer is 202 only when the time is up. A longer wait
 * than ten minutes is ten minutes; unknown and malformed preferences are ignored, and the first of two counts.
 *
 * @see RFC 7240
 */
export function parsePrefer(header: string | undefined): Preferences {
  if (header === undefined) return NO_PREFERENCES
  const preferences = new Map<string, string>()
  for (const part of header.split(',')) {
    const [name = '', value = ''] = (part.split(';')[0] ?? '').split('=').map((text) => text.trim())
    if (!preferences.has(name.toLowerCase())) preferences.set(name.toLowerCase(), unquote(value))
  }
  const wait = preferences.get('wait') ?? ''
  const seconds = /^\d{1,9}$/.test(wait) ? Math.min(Number(wait), MAX_WAIT_SECONDS) : undefined
  const isAsync = preferences.get('respond-async') === ''
  return {
    answer: isAsync && seconds === undefined ? 'accepted' : 'outcome',
    waitMs: seconds === undefined ? undefined : seconds * 1_000,
    applied: [isAsync ? 'respond-async' : '', seconds === undefined ? '' : `wait=${seconds}`]
      .filter(Boolean)
      .join(', '),
  }
}

const unquote = (value: string) => /^"(.*)"$/.exec(value)?.[1] ?? value
