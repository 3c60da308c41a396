import { toMilliseconds } from '@perdure/protocol'
import { durationProblem, membersProblem, numberProblem, objectProblem, type Problem } from './check-options.ts'
import type { RetryOptions } from './step.ts'

/** Exponential backoff. Durations in milliseconds. */
interface Backoff {
  readonly delayMs?: number | undefined // 200 when missing
  readonly factor?: number | undefined // 2 when missing
  readonly maxDelayMs?: number | undefined // 30,000 when missing
}

/** The delay before the next try. @param failures tries that have failed so far, from 1 */
function backoffMs({ delayMs = 200, factor = 2, maxDelayMs = 30_000 }: Backoff, failures: number): number {
  return Math.min(maxDelayMs, delayMs * factor ** Math.min(failures - 1, 60))
}

/** The option `retries` with its defaults; durations in milliseconds. */
export interface RetryPolicy extends Backoff {
  /** How often the work is repeated at most. */
  readonly max: number
  readonly jitter?: RetryOptions['jitter']
}

const MEMBERS: readonly (keyof RetryOptions)[] = ['max', 'delay', 'factor', 'maxDelay', 'jitter']
const COUNT = { min: 0, max: 999, isWhole: true }

/** The first problem with the option `retries`, of a registration, a step or a tool. */
export function retriesProblem(retries: unknown): Problem {
  if (retries === undefined) return undefined
  if (typeof retries === 'number') return numberProblem('retries', retries, COUNT)
  if (retries === null) return FORMS
  const options = retries as Partial<RetryOptions>
  const { max, delay, factor, maxDelay, jitter } = options
  const unknown = membersProblem(options, MEMBERS)
  const problems = [
    objectProblem('retries', options) === undefined ? undefined : FORMS,
    unknown === undefined ? undefined : `retries: ${unknown}`,
    max === undefined ? 'retries.max is missing' : numberProblem('retries.max', max, COUNT),
    durationProblem('retries.delay', delay),
    numberProblem('retries.factor', factor, { min: 1, max: 100 }),
    durationProblem('retries.maxDelay', maxDelay),
    jitter === undefined || jitter === 'full' || jitter === 'none' ? undefined : 'retries.jitter must be full or none',
  ]
  return problems.find((problem) => problem !== undefined)
}

const FORMS = 'retries must be a number or an object { max, delay, factor, maxDelay, jitter }'

/** @param retries without a problem */
export function retryPolicyOf(retries: number | RetryOptions = 0): RetryPolicy {
  if (typeof retries === 'number') return { max: retries }
  const { delay, maxDelay, max, factor, jitter } = retries
  return { max, factor, jitter, delayMs: toMilliseconds(delay), maxDelayMs: toMilliseconds(maxDelay) }
}

/** The first problem with the option `recoveries`. */
export const recoveriesProblem = (recoveries: unknown): Problem =>
  numberProblem('recoveries', recoveries, { ...COUNT, max: 1_000_000 })

/**
 * The delay before the next execution, in milliseconds.
 *
 * @param failures executions that have failed so far, from 1
 * @param id names the work, so that two pieces of work do not retry in sync
 */
export function retryDelayMs(policy: RetryPolicy, failures: number, id: string): number {
  const longest = backoffMs(policy, failures)
  return Math.round(policy.jitter === 'none' ? longest : longest * fractionOf(`${id}.${failures - 1}`))
}

/** A number from 0 (inclusive) to 1 (exclusive) that differs from text to text (FNV-1a). */
function fractionOf(text: string): number {
  let hash = 0x811c9dc5
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32
}
