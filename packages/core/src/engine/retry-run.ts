import {
  type Clock,
  type EpochMs,
  type NewEvent,
  plusMs,
  type RunRecord,
  type StepStore,
  type Write,
} from '@perdure/ports'
import { retryDelayMs } from '../durable/retry-policy.ts'
import { isFinalFailure } from '../runs/final-failure.ts'
import { unparked } from '../runs/parked.ts'
import { lifecycleEvent } from '../runs/run-events.ts'
import type { RunTarget } from '../targets/run-target.ts'
import type { RunEnd } from './end-run.ts'

export interface RetryRunDeps {
  readonly clock: Clock
  readonly steps: StepStore
}

/** A run that failed and is queued again, and the writes that do it in one commit. */
export interface RetryPlan {
  readonly queued: RunRecord & { readonly startAt: EpochMs }
  readonly delayMs: number
  readonly writes: readonly Write[]
}

/**
 * Plans the next attempt of a run that its code has failed, as the `retries` of its registration says. The recorded calls
 * are kept; the call whose failure ended the run executes again. `undefined` when the run fails for good.
 */
export async function planRetry(
  { clock, steps }: RetryRunDeps,
  { run, target }: { readonly run: RunRecord; readonly target: Pick<RunTarget, 'retries'> },
  end: RunEnd,
): Promise<RetryPlan | undefined> {
  const policy = target.retries
  const { retries = 0 } = run
  if (retries >= policy.max || !isRetryable(end)) return undefined
  const at = clock.now()
  const delayMs = retryDelayMs(policy, retries + 1, run.id)
  const queued: RetryPlan['queued'] = {
    ...run,
    status: 'queued',
    attempt: run.attempt + 1,
    retries: retries + 1,
    startAt: plusMs(at, delayMs),
    ...unparked(run),
  }
  const { status, attempt, startAt } = queued
  return {
    queued,
    delayMs,
    writes: [
      {
        type: 'run.transition',
        ...{ runId: run.id, from: ['running'], attempt: run.attempt, execution: run.execution },
        change: { status, attempt, startAt, retries: queued.retries, ...unparked(run) },
      },
      ...(await restart(steps, queued, end)),
      { type: 'event.append', events: [...(end.events ?? []), retrying(queued, { end, delayMs, at })] },
    ],
  }
}

const isRetryable = ({ status, finishReason, thrown }: RunEnd): boolean =>
  status === 'failed' && finishReason === 'error' && thrown !== undefined && !isFinalFailure(thrown)

/**
 * Restarts the failed call in the new attempt, so that `onCrash` does not apply to it: its code is known to have
 * stopped.
 */
async function restart(steps: StepStore, queued: RunRecord, { error }: RunEnd): Promise<readonly Write[]> {
  if (error?.step === undefined) return []
  const { id: runId, attempt } = queued
  const call = await steps.find(runId, error.step.seq)
  if (call?.kind !== 'step' || call.status !== 'failed') return []
  return [{ type: 'step.change', runId, seq: call.seq, from: 'failed', change: { status: 'started', attempt } }]
}

function retrying(
  queued: RunRecord,
  { end, delayMs, at }: { readonly end: RunEnd; readonly delayMs: number; readonly at: EpochMs },
): NewEvent {
  return lifecycleEvent({ ...queued, error: end.error }, 'run.retrying', { at, delayMs })
}
