import { membersProblem, objectProblem, type Problem } from '../durable/check-options.ts'
import type { ConcurrencyLimit, Debounce, RateLimit } from './flow-control.ts'
import type { RegistrationOptions } from './registration.ts'

const POLICIES: readonly unknown[] = ['parallel', 'single', 'session']
const KEYS: readonly unknown[] = ['session', 'user', 'owner']

const DAY_MS = 86_400_000
const LIMIT = { min: 1, max: 10_000 }
const PERIOD = { min: 1, max: DAY_MS }
const MAX_WAIT = { min: 1, max: 365 * DAY_MS }

/** The first problem with the flow control of a registration, if there is one. */
export function flowProblemOf({ concurrency, rateLimit, debounce }: Partial<RegistrationOptions>): Problem {
  return concurrencyProblem(concurrency) ?? rateLimitProblem(rateLimit) ?? debounceProblem(debounce)
}

function concurrencyProblem(concurrency: unknown): Problem {
  if (concurrency === undefined || POLICIES.includes(concurrency)) return undefined
  if (typeof concurrency !== 'object') return 'concurrency must be parallel, single, session or { limit, key }'
  const { limit, key } = membersOf<ConcurrencyLimit>(concurrency)
  return (
    membersOrObjectProblem('concurrency', concurrency, ['limit', 'key']) ??
    requiredProblem('concurrency.limit', limit) ??
    integerProblem('concurrency.limit', limit, LIMIT) ??
    keyProblem('concurrency.key', key)
  )
}

function rateLimitProblem(rateLimit: unknown): Problem {
  if (rateLimit === undefined) return undefined
  const { limit, periodMs, key } = membersOf<RateLimit>(rateLimit)
  return (
    membersOrObjectProblem('rateLimit', rateLimit, ['limit', 'periodMs', 'key']) ??
    requiredProblem('rateLimit.limit', limit) ??
    requiredProblem('rateLimit.periodMs', periodMs) ??
    integerProblem('rateLimit.limit', limit, LIMIT) ??
    integerProblem('rateLimit.periodMs', periodMs, PERIOD) ??
    keyProblem('rateLimit.key', key)
  )
}

function debounceProblem(debounce: unknown): Problem {
  if (debounce === undefined) return undefined
  const { periodMs, key, maxWaitMs } = membersOf<Debounce>(debounce)
  return (
    membersOrObjectProblem('debounce', debounce, ['periodMs', 'key', 'maxWaitMs']) ??
    requiredProblem('debounce.periodMs', periodMs) ??
    requiredProblem('debounce.key', key) ??
    integerProblem('debounce.periodMs', periodMs, PERIOD) ??
    keyProblem('debounce.key', key) ??
    integerProblem('debounce.maxWaitMs', maxWaitMs, MAX_WAIT) ??
    shortWaitProblem(periodMs, maxWaitMs)
  )
}

/** Values of an option that may have any type. */
type Unchecked<Option> = { readonly [Name in keyof Option]?: unknown }

const membersOf = <Option>(option: unknown): Unchecked<Option> => option ?? {}

const membersOrObjectProblem = (name: string, option: unknown, members: readonly string[]): Problem => {
  if (option === null) return `${name} must be an object`
  const problem = membersProblem(option as object, members)
  return objectProblem(name, option) ?? (problem === undefined ? undefined : `${name}: ${problem}`)
}

const requiredProblem = (name: string, value: unknown): Problem =>
  value === undefined ? `${name} is missing` : undefined

const integerProblem = (
  name: string,
  value: unknown,
  { min, max }: { readonly min: number; readonly max: number },
): Problem => {
  if (value === undefined) return undefined
  const isRight = typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
  return isRight ? undefined : `${name} must be an integer from ${min} to ${max}`
}

const keyProblem = (name: string, key: unknown): Problem =>
  key === undefined || typeof key === 'function' || KEYS.includes(key)
    ? undefined
    : `${name} must be session, user, owner or a function`

const shortWaitProblem = (periodMs: unknown, maxWaitMs: unknown): Problem =>
  maxWaitMs !== undefined && Number(maxWaitMs) < Number(periodMs)
    ? 'debounce.maxWaitMs must not be less than debounce.periodMs'
    : undefined
