import type { TailedEvent } from '@perdure/ports'
import type { LifecycleEventType } from '../runs/run-events.ts'
import type { RunWaiters } from '../runs/run-waiters.ts'
import type { OutcomeWatch } from './outcome-watch.ts'
import type { AbortReason, Runner } from './runner.ts'
import type { SettleOutcome } from './settle-outcome.ts'

export interface ForeignChangesDeps {
  readonly runner: Pick<Runner, 'abort' | 'isLive' | 'notify' | 'live' | 'behindTurns'>
  readonly runWaiters: Pick<RunWaiters, 'awaited'>
  readonly outcomeWatch: Pick<OutcomeWatch, 'check' | 'wake'>
  readonly settleOutcome: Pick<SettleOutcome, 'onSuspendedElsewhere'>
  /** Called for a run that another process has queued. */
  readonly onQueued: () => void
}

/** Applies what other processes commit to the runs that execute, or that callers wait for, in this process. */
export interface ForeignChanges {
  onEvent(event: Pick<TailedEvent, 'type' | 'runId'>): void
  /** Reads all of these runs, because the events of some may be unknown. */
  checkAll(): void
  /** Whether a run executes or waits here, or a caller waits for one. */
  isWaiting(): boolean
}

/** A run that fails from outside has used up its time budget. */
const ABORT_REASONS: ReadonlyMap<string, AbortReason> = new Map<LifecycleEventType, AbortReason>([
  ['run.completed', 'aborted'],
  ['run.aborted', 'aborted'],
  ['run.failed', 'budget-exhausted'],
])

const QUEUED: ReadonlySet<string> = new Set<LifecycleEventType>(['run.queued', 'run.resumed'])

export function createForeignChanges(deps: ForeignChangesDeps): ForeignChanges {
  const { runner, runWaiters, outcomeWatch, settleOutcome } = deps
  return {
    onEvent({ type, runId }) {
      if (runId === undefined) return
      if (QUEUED.has(type)) deps.onQueued()
      const abortReason = ABORT_REASONS.get(type)
      if (abortReason !== undefined) {
        runner.abort(runId, abortReason)
        runner.behindTurns.release(runId)
      }
      // Any other event of a run that executes here may have ended one of its waits.
      else runner.notify(runId)
      if (abortReason !== undefined || type === 'run.suspended') void outcomeWatch.check(runId)
      if (type === 'run.suspended') void settleOutcome.onSuspendedElsewhere(runId)
    },
    checkAll() {
      outcomeWatch.wake()
      runner.behindTurns.checkAll()
    },
    isWaiting: () => runWaiters.awaited().length > 0 || runner.live().length > 0 || !runner.behindTurns.isEmpty(),
  }
}
