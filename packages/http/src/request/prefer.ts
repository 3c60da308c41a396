/** The preferences of a client for a long-running operation. */
export interface Preferences {
  /** `accepted` answers immediately; `outcome` waits for the outcome. */
  readonly answer: 'outcome' | 'accepted'
  /** Maximum wait for the outcome. */
  readonly waitMs: number | undefined
  /** Value of Preference-Applied; empty if no preference was applied. */
  readonly applied: string
}

const MAX_WAIT_SECONDS = 600
const NO_PREFERENCES: Preferences = { answer: 'outcome', waitMs: undefined, applied: '' }

/**
 * Parses a Prefer header. `wait` takes precedence over `respond-async`: the answer is 202 only after the wait. A wait
 * is capped at ten minutes. Unknown and malformed preferences are ignored; of duplicates, the first is used.
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
