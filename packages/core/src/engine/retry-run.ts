import {
  type Clock,
  type EpochMs,
  type NewEvent,
  plusMs,
  type RunRecord,
  type StepStore,
  type Write,
} from '@perdure/ports'
import { backoffMs } from '../concurrency/backoff.ts'
import { isFinalFailure } from '../runs/final-failure.ts'
import { unparked } from '../runs/parked.ts'
import { lifecycleEvent } from '../runs/run-events.ts'
import type { RunRetry } from '../targets/registration.ts'
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
 * Plans the next attempt of a run that its code has failed, as the `retry` of its registration says. The recorded calls
 * are kept; the call whose failure ended the run executes again. `undefined` when the run fails for good.
 */
export async function planRetry(
  { clock, steps }: RetryRunDeps,
  { run, target }: { readonly run: RunRecord; readonly target: Pick<RunTarget, 'retry'> },
  end: RunEnd,
): Promise<RetryPlan | undefined> {
  const { retry } = target
  const { retries = 0 } = run
  if (retry === undefined || retries + 1 >= retry.maxAttempts || !isRetryable(end)) return undefined
  const at = clock.now()
  const delayMs = delayBefore(retry, run)
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

/** The pause before the next attempt of the run. */
export function delayBefore(retry: RunRetry, { id, retries = 0 }: Pick<RunRecord, 'id' | 'retries'>): number {
  const longest = backoffMs(retry, retries + 1)
  return Math.round(retry.jitter === 'none' ? longest : longest * fractionOf(`${id}.${retries}`))
}

/** A number from 0 (inclusive) to 1 (exclusive) that differs from text to text (FNV-1a): runs do not retry in sync. */
function fractionOf(text: string): number {
  let hash = 0x811c9dc5
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32
}
