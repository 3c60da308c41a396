import type { RunKind } from '@perdure/ports'
import { type CONCURRENCY_POLICIES, type Duration, toMilliseconds } from '@perdure/protocol'

/** The second argument of a key function; the first is the input. */
export interface FlowKeyMeta {
  readonly kind: RunKind
  readonly targetId: string // the agent's or workflow's id
  readonly sessionId?: string | undefined
  readonly userId?: string | undefined
  readonly owner: string // subject of the token that started the run
  readonly metadata: Readonly<Record<string, string>>
}

export const FLOW_KEYS = ['session', 'user', 'owner'] as const

/** The schema of the input determines `Input`; the function does not. */
type KeyFunction<Input> = { call(input: NoInfer<Input>, meta: FlowKeyMeta): string | undefined }['call']

/**
 * Groups runs: those with the same key share a limit. A function gets the parsed input; a run for which it returns
 * `undefined` is not limited. It is called once, when the run is accepted.
 */
export type FlowKey<Input = unknown> = (typeof FLOW_KEYS)[number] | KeyFunction<Input>

export interface ConcurrencyLimit<Input = unknown> {
  /** How many runs with the same key execute at the same time: from 1 to 10,000. */
  readonly limit: number
  /** Without a key, all runs share the limit. */
  readonly key?: FlowKey<Input>
}

export interface RateLimit<Input = unknown> {
  /** How many runs with the same key start in any period: from 1 to 10,000. Further runs are queued. */
  readonly limit: number
  /** At most a day. */
  readonly period: Duration
  /** Without a key, all runs share the limit. */
  readonly key?: FlowKey<Input>
}

export interface Debounce<Input = unknown> {
  /** The run starts when no request with the same key has arrived for this time, which is at most a day. */
  readonly period: Duration
  /** Requests are combined only if they have the same key. */
  readonly key: FlowKey<Input>
  /** The run starts this long after its first request at the latest, from `period` to a year; unlimited when missing. */
  readonly maxWait?: Duration
}

export type Concurrency<Input = unknown> = (typeof CONCURRENCY_POLICIES)[number] | ConcurrencyLimit<Input>

/** A `RateLimit` in milliseconds. */
export interface RateRule extends Pick<RateLimit, 'limit' | 'key'> {
  readonly periodMs: number
}

/** A `Debounce` in milliseconds. */
export interface DebounceRule extends Pick<Debounce, 'key'> {
  readonly periodMs: number
  readonly maxWaitMs?: number | undefined
}

/** @param limit a valid option */
export const rateRuleOf = ({ period, ...rule }: RateLimit): RateRule => ({
  ...rule,
  periodMs: toMilliseconds(period) as number,
})

/** @param debounce a valid option */
export const debounceRuleOf = ({ period, maxWait, key }: Debounce): DebounceRule => ({
  key,
  periodMs: toMilliseconds(period) as number,
  ...(maxWait === undefined ? {} : { maxWaitMs: toMilliseconds(maxWait) }),
})
