import type { FlowKeys, RunRecord } from '@perdure/ports'
import type { RunTarget } from '../../targets/run-target.ts'

/**
 * A name and a number of slots. A run needs a slot of each of its lanes to execute, besides a slot of the process. It
 * holds the slot while it executes or, with `periodMs`, for that time from its start.
 */
export interface Lane {
  readonly name: string
  readonly limit: number
  readonly periodMs?: number | undefined
}

type LaneTarget = Pick<RunTarget, 'kind' | 'id' | 'concurrency' | 'rateLimit'>
export type LaneRun = Pick<RunRecord, 'sessionId' | 'flow'>

/** The lane that limits how many runs execute at the same time; `undefined` when there is no limit for this run. */
export function concurrencyLane({ kind, id, concurrency }: LaneTarget, { sessionId, flow }: LaneRun): Lane | undefined {
  const lane = (limit: number, key: string | undefined) => ({ name: `${kind}:${id}/concurrency${suffix(key)}`, limit })
  if (concurrency === 'parallel') return undefined
  if (concurrency === 'single') return lane(1, undefined)
  if (concurrency === 'session') return sessionId === undefined ? undefined : lane(1, sessionId)
  if (concurrency.key === undefined) return lane(concurrency.limit, undefined)
  return flow?.concurrency === undefined ? undefined : lane(concurrency.limit, flow.concurrency)
}

/** The lane that limits how many runs start in a period; `undefined` when there is no limit for this run. */
export function rateLane({ kind, id, rateLimit }: LaneTarget, { flow }: LaneRun): Lane | undefined {
  if (rateLimit === undefined) return undefined
  const { limit, periodMs, key } = rateLimit
  if (key !== undefined && flow?.rate === undefined) return undefined
  return { name: `${kind}:${id}/rate${suffix(key === undefined ? undefined : flow?.rate)}`, limit, periodMs }
}

const suffix = (key: FlowKeys[keyof FlowKeys]) => (key === undefined ? '' : `/${key}`)
