import type { RunRecord, Span } from '@perdure/ports'
import { createCellMap } from '../collections/cell-map.ts'
import type { RunTarget } from '../targets/run-target.ts'
import type { Execution } from './execution.ts'
import type { HeldStart } from './held-start.ts'
import type { Slot } from './lanes/admission.ts'

/** A run that this process is to execute. It is committed, unless its start is held. */
export interface Launch {
  readonly run: RunRecord
  readonly target: RunTarget
  readonly slot: Slot
  readonly start?: HeldStart
}

/** A run that executes in this process or waits here for its slot. */
export interface LiveRun extends Launch {
  /** Fires the abort signal that the code of the run receives. */
  readonly controller: AbortController
  execution?: Execution
  span?: Span
}

/** The live runs of this process, by run id. A run that is launched again replaces its earlier entry. */
export interface LiveRuns {
  get(runId: string): LiveRun | undefined
  has(runId: string): boolean
  list(): readonly LiveRun[]
  add(launch: Launch): LiveRun
  /** Whether the entry is still current; false once the entry was evicted or replaced. */
  isCurrent(live: LiveRun): boolean
  /** Returns a copy of the entry with this run record, and stores the copy when the entry is current. */
  withRun(live: LiveRun, run: RunRecord): LiveRun
  /** Releases the slot and the execution, and removes the entry if it is current. Idempotent. */
  evict(live: LiveRun): void
}

export function createLiveRuns(): LiveRuns {
  const runs = createCellMap<string, LiveRun>()
  const isCurrent = ({ run, controller }: LiveRun) => runs.get(run.id)?.controller === controller

  return {
    get: runs.get,
    has: runs.has,
    list: runs.values,
    add(launch) {
      const live: LiveRun = { ...launch, controller: new AbortController() }
      runs.set(launch.run.id, live)
      return live
    },
    isCurrent,
    withRun(live, run) {
      const changed = { ...live, run }
      if (isCurrent(live)) runs.set(run.id, changed)
      return changed
    },
    evict(live) {
      live.slot.release()
      live.execution?.release()
      if (isCurrent(live)) runs.delete(live.run.id)
    },
  }
}
