import * as v from 'valibot'

/** Prefixes of generated ids. An id is prefix, underscore and 26 Crockford base32 characters of a UUIDv7. */
export const ID_PREFIXES = {
  run: 'run',
  session: 'ses',
  token: 'tok',
  memory: 'mem',
  thread: 'thr',
  fire: 'fire',
  message: 'msg',
  approval: 'apr',
  emission: 'emi',
  call: 'call',
  block: 'blk',
  conflict: 'cfl',
  job: 'job',
  webhook: 'whk',
  delivery: 'del',
  hookDelivery: 'hkd',
  file: 'file',
} as const

export type IdKind = keyof typeof ID_PREFIXES

/** Ids that operators or clients choose: agents, workflows, triggers, skills, MCP servers, sessions, runs. */
export const OPERATOR_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/

export const OperatorId = v.pipe(
  v.string(),
  v.regex(OPERATOR_ID, 'must start with a letter or digit and contain at most 128 letters, digits, "_" or "-"'),
)

/** The form of the header `Idempotency-Key`, without quotes. */
export const IDEMPOTENCY_KEY = /^[!-~]{1,255}$/

export const IdempotencyKey = v.pipe(
  v.string(),
  v.regex(IDEMPOTENCY_KEY, 'must be the key as sent in Idempotency-Key: 1 to 255 visible ASCII characters'),
)

/** ISO 8601; the server writes UTC with milliseconds. */
export const Timestamp = v.pipe(v.string(), v.isoTimestamp(), v.check(isInstant, 'must be an existing date and time'))

/** Whether `Date` parses the text and the day exists: `Date` alone turns 30 February into 2 March. */
function isInstant(text: string): boolean {
  const day = text.slice(0, 'YYYY-MM-DD'.length)
  const midnight = Date.parse(`${day}T00:00:00.000Z`)
  return !Number.isNaN(Date.parse(text) + midnight) && new Date(midnight).toISOString().startsWith(day)
}
