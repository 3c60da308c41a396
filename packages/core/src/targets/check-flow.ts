import { CONCURRENCY_POLICIES, toMilliseconds } from '@perdure/protocol'
import { durationProblem, membersProblem, objectProblem, type Problem } from '../durable/check-options.ts'
import { type ConcurrencyLimit, type Debounce, FLOW_KEYS, type RateLimit } from './flow-control.ts'
import type { RegistrationOptions } from './registration.ts'

const POLICIES: readonly unknown[] = CONCURRENCY_POLICIES
const KEYS: readonly unknown[] = FLOW_KEYS

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
  const { limit, period, key } = membersOf<RateLimit>(rateLimit)
  return (
    membersOrObjectProblem('rateLimit', rateLimit, ['limit', 'period', 'key']) ??
    requiredProblem('rateLimit.limit', limit) ??
    requiredProblem('rateLimit.period', period) ??
    integerProblem('rateLimit.limit', limit, LIMIT) ??
    durationProblem('rateLimit.period', period, PERIOD) ??
    keyProblem('rateLimit.key', key)
  )
}

function debounceProblem(debounce: unknown): Problem {
  if (debounce === undefined) return undefined
  const { period, key, maxWait } = membersOf<Debounce>(debounce)
  return (
    membersOrObjectProblem('debounce', debounce, ['period', 'key', 'maxWait']) ??
    requiredProblem('debounce.period', period) ??
    requiredProblem('debounce.key', key) ??
    durationProblem('debounce.period', period, PERIOD) ??
    keyProblem('debounce.key', key) ??
    durationProblem('debounce.maxWait', maxWait, MAX_WAIT) ??
    shortWaitProblem(period, maxWait)
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

const shortWaitProblem = (period: unknown, maxWait: unknown): Problem =>
  Number(toMilliseconds(maxWait)) < Number(toMilliseconds(period))
    ? 'debounce.maxWait must not be less than debounce.period'
    : undefined
