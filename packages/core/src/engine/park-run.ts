import type { Clock, Logger, NewEvent, RunRecord, RunStore, UnitOfWork, Write } from '@perdure/ports'
import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'
import type { Opening } from '../durable/journal.ts'
import { eachRun } from '../runs/each-run.ts'
import { codeWait, NOT_PARKED, type ParkReason, storeParked, unparked, wasParked } from '../runs/parked.ts'
import { lifecycleEvent } from '../runs/run-events.ts'
import type { RunTargets } from '../targets/run-target.ts'
import { announce, type EndRunDeps } from './end-run.ts'
import { planSuspensionOf, type SuspendPlan } from './suspend-run.ts'

/** Why a run is parked, and what else the same commit writes. */
export interface Parking {
  readonly reason: ParkReason
  /** The open waits of the run. The writes conflict at `step.fence` when one of them has ended. */
  readonly waits: readonly number[]
  /** Events of the run that are not in the log yet. */
  readonly events: readonly NewEvent[]
  /** Whether the run did nothing since it was parked for the same reason: the log then says so already. */
  readonly isSilent: boolean
}

/** Plans how a run is suspended until other code is registered. */
export function planPark(deps: EndRunDeps, run: RunRecord, { reason, waits, events, isSilent }: Parking): SuspendPlan {
  return planSuspensionOf(deps, run, {
    waitingFor: [codeWait(reason)],
    writes: waits.length === 0 ? [] : [{ type: 'step.fence', runId: run.id, seqs: waits }],
    events,
    change: { parked: storeParked(reason) },
    reason: 'version' in reason ? 'version' : 'divergence',
    isSilent,
  })
}

/** Whether the run was queued again without an event, and now parks for the reason that the log already names. */
export const isSameReason = (run: RunRecord, reason: ParkReason): boolean =>
  wasParked(run) && run.parked === storeParked(reason)

/**
 * What the log is missing when a run is tried again after it was parked. It is written with the first thing that the run
 * records, so that a try without progress adds nothing to the log.
 */
export function openingOf({ clock }: { readonly clock: Clock }, run: RunRecord): Opening | undefined {
  if (!wasParked(run)) return undefined
  const at = clock.now()
  const { id: runId, attempt, execution } = run
  return {
    events: [
      lifecycleEvent({ ...run, status: 'queued' }, 'run.resumed', { at, reason: 'code' }),
      lifecycleEvent(run, 'run.started', { at }),
    ],
    writes: [{ type: 'run.transition', runId, from: ['running'], attempt, execution, change: { parked: NOT_PARKED } }],
  }
}

export interface ParkQueuedDeps extends EndRunDeps, RetryDeps {
  readonly logger: Logger
}

/** Parks a queued run whose version is not registered. */
export async function parkQueued(deps: ParkQueuedDeps, run: RunRecord, version: string): Promise<void> {
  const reason = { version }
  const plan = planPark(deps, run, { reason, waits: [], events: [], isSilent: isSameReason(run, reason) })
  const outcome = await retryTransient(deps, () => deps.unitOfWork.commit(plan.writes))
  if (!outcome.committed) return
  deps.logger.warn('run parked: its version is not registered', { runId: run.id, id: run.targetId, version })
  announce(deps, plan.suspended, { detail: { waitingFor: plan.waitingFor } })
}

export interface RequeueDeps {
  readonly unitOfWork: UnitOfWork
  readonly relaunch: (run: RunRecord) => void
}

/**
 * Queues a parked run, so that its code is tried again. The log is not changed until the run continues.
 *
 * @param writes applied first in the same commit
 */
export async function requeueParked({ unitOfWork, relaunch }: RequeueDeps, run: RunRecord, writes: readonly Write[]) {
  const { id: runId, attempt, execution } = run
  const outcome = await unitOfWork.commit([
    ...writes,
    { type: 'run.transition', runId, from: ['suspended'], attempt, execution, change: { status: 'queued' } },
  ])
  if (outcome.committed) relaunch({ ...run, status: 'queued' })
  return outcome
}

export interface RequeueAllDeps extends RequeueDeps, RetryDeps {
  readonly runs: RunStore
  readonly targets: RunTargets
}

/** Queues every parked run whose code is registered. Called when the server starts, perhaps with other code. */
export async function requeueAllParked(deps: RequeueAllDeps): Promise<void> {
  for await (const run of eachRun(deps.runs, { isParked: true })) {
    if (deps.targets.ofRun(run) !== undefined) await retryTransient(deps, () => requeueParked(deps, run, []))
  }
}

/** Queues a run again that was about to be parked when one of its waits ended: its code may continue now. */
export async function requeueInstead(
  { unitOfWork, relaunch, clock }: RequeueDeps & { readonly clock: Clock },
  run: RunRecord,
  events: readonly NewEvent[],
): Promise<boolean> {
  const queued: RunRecord = { ...run, status: 'queued', ...unparked(run) }
  const { id: runId, attempt, execution } = run
  const outcome = await unitOfWork.commit([
    {
      type: 'run.transition',
      ...{ runId, from: ['running'], attempt, execution },
      change: { status: 'queued', ...unparked(run) },
    },
    {
      type: 'event.append',
      events: [...events, lifecycleEvent(queued, 'run.queued', { at: clock.now(), reason: 'code' })],
    },
  ])
  if (outcome.committed) relaunch(queued)
  return outcome.committed
}
