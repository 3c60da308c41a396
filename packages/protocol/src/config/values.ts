import * as v from 'valibot'
import { DURATION_TEXT, toMilliseconds } from '../duration.ts'

const SECRET_REFERENCE = /^[a-z][a-z0-9-]*:[\s\S]+$/
const NOT_A_REFERENCE = 'must be a secret reference such as env:NAME or file:path, not the secret itself'

/** `env:NAME`, `file:path`, …: never the secret itself. Validation messages do not echo the value. */
export const SecretReference = v.pipe(v.string(NOT_A_REFERENCE), v.regex(SECRET_REFERENCE, NOT_A_REFERENCE))

export const boolean = v.boolean()
export const strings = v.array(v.string())
export const within = (minimum: number, maximum: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(minimum), v.maxValue(maximum))
export const share = v.pipe(v.number(), v.gtValue(0, 'must be more than 0'), v.maxValue(1))
/** A number in the unit of the field, or a text such as `'30s'`. The output is a whole number in that unit. */
const durationIn = (unit: 'milliseconds' | 'seconds' | 'days', minimum: number, maximum: number) =>
  v.pipe(
    v.union([v.number(), v.pipe(v.string(), v.regex(DURATION_TEXT, formsIn(unit)))], formsIn(unit)),
    v.transform((value) => (typeof value === 'number' ? value : (toMilliseconds(value) ?? 0) / UNIT_MS[unit])),
    v.number(),
    v.integer(`must be a whole number of ${unit}`),
    v.minValue(minimum),
    v.maxValue(maximum),
  )
const formsIn = (unit: string) =>
  `must be a number of ${unit}, or a text such as '250ms', '30s', '15m', '12h', '1d' or '2w'`
const UNIT_MS = { milliseconds: 1, seconds: 1_000, days: 86_400_000 } as const
export const milliseconds = (minimum: number) => durationIn('milliseconds', minimum, 2 ** 31 - 1)
export const secondsFrom = (minimum: number) => durationIn('seconds', minimum, 10 * 365 * 86_400)
export const seconds = secondsFrom(1)
export const days = (minimum: number, maximum = 2 ** 31 - 1) => durationIn('days', minimum, maximum)
export const bytes = within(1, 2 ** 40)
export const count = (minimum: number) => within(minimum, 2 ** 31 - 1)
export const port = within(0, 65_535)
export const host = v.pipe(v.string(), v.regex(/^\S+$/, 'must be a host name or an address'))
export const basePath = v.pipe(
  v.string(),
  v.regex(/^(?:\/(?!\.\.?(?:\/|$))[A-Za-z0-9._~-]+)+$/, 'must look like /v1, without . and .. in it'),
)
export const hostWithPort = v.pipe(
  v.string(),
  v.regex(
    /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/,
    'must be a host such as mcp.example.com or localhost:3000',
  ),
)
export const origin = v.union([
  v.literal('*'),
  v.pipe(v.string(), v.regex(/^https?:\/\/[^/\s]+$/, 'must be an origin such as https://app.example.com')),
])

const RANGE =
  /^(?:\d{1,3}(?:\.\d{1,3}){3}(?:\/(?:[12]?\d|3[0-2]))?|(?=[^/]*:)[0-9a-fA-F:.]+(?:\/(?:\d{1,2}|1[01]\d|12[0-8]))?)$/
export const proxies = v.union([
  within(0, 32),
  v.array(v.pipe(v.string(), v.regex(RANGE, 'must be a range of addresses such as 10.0.0.0/8'))),
])
