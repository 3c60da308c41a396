import { isStorageBusy, type RunRecord, type UnitOfWork } from '@perdure/ports'
import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'
import { unparked } from '../runs/parked.ts'
import { lifecycleEvent } from '../runs/run-events.ts'
import { type EndRunDeps, endRun, executionOf } from './end-run.ts'
import type { LiveRun } from './live-runs.ts'
import type { Runner } from './runner.ts'

export interface DrainRunsDeps extends EndRunDeps, RetryDeps {
  readonly unitOfWork: UnitOfWork
  readonly runner: Runner
}

const POLL_MS = 25

/** Waits until no run executes in this process. Resolves with false when runs still execute after `timeoutMs`. */
export async function waitForRuns({ runner, timers, clock }: DrainRunsDeps, timeoutMs: number): Promise<boolean> {
  const deadline = clock.monotonicMs() + timeoutMs
  while (executing(runner).length > 0) {
    if (clock.monotonicMs() >= deadline) return false
    await new Promise<void>((resolve) => timers.after(POLL_MS, resolve))
  }
  return true
}

/**
 * Detaches the runs that still execute from this process. Runs with `onCrash: 'retry'` are queued for the next
 * process, all other runs are aborted with finish reason `shutdown`. The abort signals of all these runs fire with
 * reason `shutdown`. Callers that wait for a queued or suspended run are answered 202.
 */
export async function releaseRuns(deps: DrainRunsDeps): Promise<void> {
  await Promise.all(executing(deps.runner).map((live) => release(deps, live)))
  for (const { run } of deps.runner.live()) if (run.status === 'queued') deps.runWaiters.resolve(run)
  deps.runWaiters.stopWaitingAll()
}

/**
 * The process must exit, so a commit is retried only while the storage is busy, and only for this long. A full disk is
 * not worth retrying: it is rarely cleared in that time.
 */
const RETRY_MS = 1_000

async function release(deps: DrainRunsDeps, { run, target, execution, start }: LiveRun): Promise<void> {
  const { clock } = deps
  const giveUpAtMs = clock.monotonicMs() + RETRY_MS
  const usage = execution?.used() ?? run.usage
  const how = { status: 'aborted', finishReason: 'shutdown', reason: 'shutdown' } as const
  const end = { ...how, usage, execution: executionOf(run) }
  const leave = async () => void (target.onCrash === 'retry' ? await requeue(deps, run) : await endRun(deps, run, end))
  try {
    await start?.seal()
    await retryTransient(deps, leave, { mayRetry: isStorageBusy, shouldStop: () => clock.monotonicMs() >= giveUpAtMs })
  } finally {
    deps.runner.abort(run.id, 'shutdown')
  }
}

async function requeue({ unitOfWork, clock, runWaiters }: DrainRunsDeps, run: RunRecord): Promise<void> {
  const queued: RunRecord = { ...run, status: 'queued', attempt: run.attempt + 1, ...unparked(run) }
  const outcome = await unitOfWork.commit([
    {
      type: 'run.transition',
      ...{ runId: run.id, from: ['running'], attempt: run.attempt, execution: run.execution },
      change: { status: 'queued', attempt: queued.attempt, ...unparked(run) },
    },
    { type: 'event.append', events: [lifecycleEvent(queued, 'run.queued', { at: clock.now(), reason: 'shutdown' })] },
  ])
  if (outcome.committed) runWaiters.resolve(queued)
}

const executing = (runner: Runner) => runner.live().filter(({ slot }) => slot.isGranted())
