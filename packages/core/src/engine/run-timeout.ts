import type { Logger } from '@perdure/ports'
import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'
import { type EndRunDeps, endRun } from './end-run.ts'
import type { LiveRun } from './live-runs.ts'

export interface RunTimeoutDeps extends EndRunDeps, RetryDeps {
  readonly logger: Logger
}

/**
 * Ends the run as aborted with finish reason `timeout` when one execution takes longer than the `timeoutMs` of the run.
 * The returned function cancels the timer.
 *
 * @param onTimeout called after the end is committed
 */
export function startRunTimeout(deps: RunTimeoutDeps, live: LiveRun, onTimeout: () => void): () => void {
  const { run, controller } = live
  if (run.timeoutMs === undefined) return () => undefined
  return deps.timers.after(run.timeoutMs, () => {
    if (controller.signal.aborted) return
    const usage = live.execution?.used() ?? run.usage
    const how = { status: 'aborted', finishReason: 'timeout', reason: 'timeout' } as const
    const end = { ...how, usage, execution: run.execution }
    retryTransient(deps, () => endRun(deps, run, end))
      .then((ended) => ended !== undefined && onTimeout())
      .catch((error: unknown) => deps.logger.error('timeout not recorded', error, { runId: run.id }))
  })
}
