import type { RunRecord } from '@perdure/ports'
import { type RetryDeps, retryTransient } from '../../concurrency/retry-transient.ts'
import { isBefore } from '../../runs/turn.ts'
import { waitsForTurns } from '../earlier-turn.ts'
import type { LiveRun, LiveRuns } from '../live-runs.ts'
import type { Admission } from './admission.ts'
import { concurrencyLane } from './lane.ts'
import { queuedSince, type RunLines } from './run-line.ts'

export interface LineOrderDeps extends RetryDeps {
  readonly admission: Pick<Admission, 'runsInLane' | 'holdDuring'>
  readonly liveRuns: LiveRuns
  /** The queued runs of all processes; missing if no other process uses the storage. */
  readonly lines?: RunLines | undefined
}

/** Keeps the order of the runs that wait for the same slots: a run that has got its slot may have to let another one pass. */
export interface LineOrder {
  /** The queued run that goes before this one; `undefined` if none does. */
  ahead(live: LiveRun): Promise<RunRecord | undefined>
  /** Both wait again, in their order. */
  letPass(ahead: RunRecord, waiting: LiveRun): Promise<void>
}

const MOST_PASSES = 3

/** @param relaunch queues the run, if its code is registered */
export function createLineOrder(deps: LineOrderDeps, relaunch: (run: RunRecord) => void): LineOrder {
  const { admission, liveRuns, lines } = deps
  /** How often a run has let the same run pass. If that run still waits here then, it waits for another lane. */
  const passed = new Map<string, { readonly ahead: string; readonly times: number }>()

  const timesPassed = (run: RunRecord, ahead: RunRecord): number => {
    const known = passed.get(run.id)
    return known?.ahead === ahead.id ? known.times : 0
  }

  /** A message that waited for the same turn may have come back to the queue after this one had got its slot. */
  const aheadHere = ({ run, target }: LiveRun): RunRecord | undefined => {
    const lane = isNewMessage({ run, target }) ? concurrencyLane(target, run) : undefined
    if (lane === undefined) return undefined
    const others = admission.runsInLane(lane).map((id) => liveRuns.get(id))
    const goesFirst = (other: LiveRun) =>
      !other.slot.isGranted() && isNewMessage(other) && hasPrecedence(other.run, run)
    return others.find((other) => other !== undefined && goesFirst(other))?.run
  }

  return {
    async ahead(live) {
      const { run, target } = live
      const ahead = lines === undefined ? aheadHere(live) : await retryTransient(deps, () => lines.ahead(target, run))
      if (ahead !== undefined && !(timesPassed(run, ahead) >= MOST_PASSES && liveRuns.has(ahead.id))) return ahead
      passed.delete(run.id)
      return undefined
    },
    letPass(ahead, waiting) {
      passed.set(waiting.run.id, { ahead: ahead.id, times: timesPassed(waiting.run, ahead) + 1 })
      return admission.holdDuring(async () => {
        liveRuns.evict(waiting)
        const known = liveRuns.get(ahead.id)
        if (known !== undefined && !known.slot.isGranted()) liveRuns.evict(known)
        for (const run of [ahead, waiting.run]) if (!liveRuns.has(run.id)) relaunch(run)
      })
    },
  }
}

const isNewMessage = ({ run, target }: Pick<LiveRun, 'run' | 'target'>): boolean =>
  run.execution === 0 && waitsForTurns(target, run)

const hasPrecedence = (one: RunRecord, other: RunRecord): boolean => {
  if ((one.priority ?? 0) !== (other.priority ?? 0)) return (one.priority ?? 0) > (other.priority ?? 0)
  const [at, otherAt] = [queuedSince(one), queuedSince(other)]
  return at === otherAt ? isBefore(one, other) : at < otherAt
}
