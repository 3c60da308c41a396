import {
  type EpochMs,
  EVERY_ROW,
  plusMs,
  type RunRecord,
  type RunStore,
  type TakenSlot,
  type Write,
} from '@perdure/ports'
import { NO_CALLER } from '../../auth/caller.ts'
import type { DebounceRule } from '../../targets/flow-control.ts'

/** A run that waits for further requests, with the content of the newest one. */
export interface Debounced {
  readonly run: RunRecord & { readonly startAt: EpochMs }
  /** Conflicts when the run no longer waits, or when another request has changed it. */
  readonly write: Write
}

/**
 * Combines a new run with an earlier one of the same owner that has the same debounce key and still waits for its start
 * time. Returns `undefined` if no run waits; the new run is then the first.
 */
export async function debounce(runs: RunStore, options: DebounceRule, next: RunRecord): Promise<Debounced | undefined> {
  const { owner, flow, input, caller = NO_CALLER } = next
  if (flow?.debounce === undefined) return undefined
  const filter = { owner, debounce: flow.debounce }
  const { items } = await runs.list(filter, { limit: 1, order: 'desc', content: [] }, EVERY_ROW)
  const [waiting] = items
  if (waiting?.status !== 'queued' || waiting.version !== next.version) return undefined
  if (waiting.startAt === undefined || waiting.startAt <= next.createdAt) return undefined
  const startAt = nextStart(options, { ...waiting, startAt: waiting.startAt }, next)
  const deadlineAt =
    waiting.deadlineAt === undefined ? undefined : plusMs(startAt, waiting.deadlineAt - waiting.startAt)
  const { id: runId, attempt } = waiting
  return {
    run: { ...waiting, input, caller, flow, startAt, deadlineAt },
    write: {
      type: 'run.transition',
      ...{ runId, from: ['queued'], attempt, startAt: waiting.startAt },
      change: { input, caller, flow, startAt, deadlineAt },
    },
  }
}

/** Longer than a commit takes, and clearly shorter than `LANE_CLOCK_TOLERANCE_MS`. */
const CONTENDED_MS = 15_000

/**
 * Lets one of several first requests start the run, which different processes receive at the same moment: the others conflict, and
 * then find the run. The slot is taken until the run starts, or for `CONTENDED_MS`: after that, every request finds the run, and
 * slots of runs with distant start times would look as if they were taken before the clock was set back. If the run has ended
 * before, the next request takes the next slot.
 */
export function takeDebounceSlot(
  { id: runId, flow, owner, startAt, createdAt: now }: RunRecord,
  taken: TakenSlot | undefined,
): readonly Write[] {
  if (flow?.debounce === undefined || startAt === undefined) return []
  const lane = `debounce:${owner}/${flow.debounce}`
  const slot = taken?.lane === lane ? taken.slot + 1 : 0
  const freeAt = Math.min(startAt, plusMs(now, CONTENDED_MS)) as EpochMs
  return [{ type: 'lane.take', runId, slots: [{ lane, slot, freeAt }], now }]
}

/** Never the same as before, because the start time also tells one content of the run from another. */
function nextStart(
  { periodMs, maxWaitMs }: DebounceRule,
  waiting: { readonly createdAt: EpochMs; readonly startAt: EpochMs },
  { createdAt: now, startAt }: RunRecord,
): EpochMs {
  const asked = Math.max(plusMs(now, periodMs), startAt ?? 0)
  const latest = maxWaitMs === undefined ? asked : Math.min(asked, plusMs(waiting.createdAt, maxWaitMs))
  return (latest === waiting.startAt ? latest + 1 : latest) as EpochMs
}
