import type { EpochMs, Logger, NewEvent, RunRecord } from '@perdure/ports'
import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'
import type { Unwritten } from '../durable/journal.ts'
import { announce, type EndRunDeps, endRun, type RunEnd } from './end-run.ts'
import { endOf, type Verdict } from './execution.ts'
import type { LiveRun } from './live-runs.ts'
import { isSameReason, planPark, requeueInstead } from './park-run.ts'
import { planRetry, type RetryRunDeps } from './retry-run.ts'
import { logRetry } from './run-log.ts'

export interface CommitVerdictDeps extends EndRunDeps, RetryDeps, RetryRunDeps {
  readonly logger: Logger
  /** Whether durable timers work; without them no run is retried. */
  readonly canRetry: boolean
  /** Passes the start time of a queued run to the timer driver. */
  readonly onStartTime: (startAt: EpochMs) => void
  /** Executes a run that is committed as queued. */
  readonly relaunch: (run: RunRecord) => void
  /** Passes a due time to the timer driver, in case it is earlier than the next known timer. */
  readonly onDue: (dueAt: number) => void
}

/**
 * Commits the result of one execution: the run ends, is suspended or parked, or is queued again.
 *
 * @param unwritten events of the run that are not in the log yet
 * @returns whether the result was written; false when the run has ended or changed in the meantime
 */
export async function commitVerdict(
  deps: CommitVerdictDeps,
  live: Pick<LiveRun, 'run' | 'target' | 'execution' | 'controller'>,
  { verdict, unwritten }: { readonly verdict: Verdict; readonly unwritten: Pick<Unwritten, 'opening' | 'events'> },
): Promise<boolean> {
  const { run, execution } = live
  const events = [...unwritten.opening, ...unwritten.events]
  if (verdict.kind === 'dropped') return false
  if (verdict.kind === 'parked') return commitPark(deps, live, { ...verdict, unwritten })
  if (verdict.kind === 'end') {
    const retried = await commitRetry(deps, live, { ...endOf(verdict), events })
    if (retried !== undefined) return retried
    const usage = execution?.used()
    const hasDependents = execution?.hasDependents() !== false
    const end = { ...endOf(verdict), hasDependents, events, usage, execution: run.execution }
    return (await retryTransient(deps, () => endRun(deps, run, end))) !== undefined
  }
  const { suspended, writes, waitingFor, dueAt } = verdict.plan()
  if (writes.length > 0) {
    const rest = { type: 'event.append', events } as const
    const { id: runId, attempt } = run
    const fence = { type: 'run.fence', runId, attempt, execution: run.execution } as const
    const outcome = await retryTransient(deps, () => deps.unitOfWork.commit([fence, rest, ...writes]))
    if (!outcome.committed) return false
  }
  if (dueAt !== undefined) deps.onDue(dueAt)
  announce(deps, suspended, { detail: { waitingFor } })
  return true
}

/**
 * Queues a failed run again if its registration says so, and aborts what is left of its code.
 *
 * @returns whether this was written; `undefined` when the run fails for good
 */
async function commitRetry(
  deps: CommitVerdictDeps,
  { run, target, controller }: Pick<LiveRun, 'run' | 'target' | 'controller'>,
  end: RunEnd,
): Promise<boolean | undefined> {
  if (!deps.canRetry) return undefined
  const plan = await retryTransient(deps, () => planRetry(deps, { run, target }, end))
  if (plan === undefined) return undefined
  const { queued, delayMs, writes } = plan
  const outcome = await retryTransient(deps, () => deps.unitOfWork.commit(writes))
  if (!outcome.committed) return false
  logRetry(deps.logger, queued, { error: end.error, delayMs })
  deps.runWaiters.postpone(queued)
  controller.abort('retried')
  deps.onStartTime(queued.startAt)
  return true
}

interface Parking extends Pick<Extract<Verdict, { readonly kind: 'parked' }>, 'reason' | 'waits'> {
  readonly unwritten: { readonly opening: readonly NewEvent[]; readonly events: readonly NewEvent[] }
}

/**
 * Parks the run, and aborts what is left of its code. If one of its waits has ended in the meantime, the run is queued
 * again instead, because its code may continue now.
 */
async function commitPark(
  deps: CommitVerdictDeps,
  { run, controller }: Pick<LiveRun, 'run' | 'controller'>,
  { reason, waits, unwritten }: Parking,
): Promise<boolean> {
  const isSilent = unwritten.opening.length > 0 && unwritten.events.length === 0 && isSameReason(run, reason)
  const events = isSilent ? [] : [...unwritten.opening, ...unwritten.events]
  const plan = planPark(deps, run, { reason, waits, events, isSilent })
  const outcome = await retryTransient(deps, () => deps.unitOfWork.commit(plan.writes))
  const hasWoken = !outcome.committed && outcome.conflict.type === 'step.fence'
  if (hasWoken && !(await retryTransient(deps, () => requeueInstead(deps, run, events)))) return false
  if (!outcome.committed && !hasWoken) return false
  controller.abort('parked')
  if (hasWoken) return true
  deps.logger.warn('run parked: its code does not make the recorded calls', { runId: run.id, ...reason })
  announce(deps, plan.suspended, { detail: { waitingFor: plan.waitingFor } })
  return true
}
