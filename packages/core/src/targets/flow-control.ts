import type { RunKind } from '@perdure/ports'

/** The second argument of a key function; the first is the input. */
export interface FlowKeyMeta {
  readonly kind: RunKind
  readonly targetId: string // the agent's or workflow's id
  readonly sessionId?: string | undefined
  readonly userId?: string | undefined
  readonly owner: string // subject of the token that started the run
  readonly metadata: Readonly<Record<string, string>>
}

/** The schema of the input determines `Input`; the function does not. */
type KeyFunction<Input> = { call(input: NoInfer<Input>, meta: FlowKeyMeta): string | undefined }['call']

/**
 * Groups runs: those with the same key share a limit. A function gets the parsed input; a run for which it returns
 * `undefined` is not limited. It is called once, when the run is accepted.
 */
export type FlowKey<Input = unknown> = 'session' | 'user' | 'owner' | KeyFunction<Input>

export interface ConcurrencyLimit<Input = unknown> {
  /** How many runs with the same key execute at the same time: from 1 to 10,000. */
  readonly limit: number
  /** Without a key, all runs share the limit. */
  readonly key?: FlowKey<Input>
}

export interface RateLimit<Input = unknown> {
  /** How many runs with the same key start in any period: from 1 to 10,000. Further runs are queued. */
  readonly limit: number
  /** Milliseconds, at most 86,400,000 (a day). */
  readonly periodMs: number
  /** Without a key, all runs share the limit. */
  readonly key?: FlowKey<Input>
}

export interface Debounce<Input = unknown> {
  /** The run starts when no request with the same key has arrived for this time. Milliseconds, at most 86,400,000. */
  readonly periodMs: number
  /** Requests are combined only if they have the same key. */
  readonly key: FlowKey<Input>
  /**
   * The run starts this long after its first request at the latest. Milliseconds, from `periodMs` to 31,536,000,000 (a
   * year); unlimited when missing.
   */
  readonly maxWaitMs?: number
}

export type Concurrency<Input = unknown> = 'parallel' | 'single' | 'session' | ConcurrencyLimit<Input>
