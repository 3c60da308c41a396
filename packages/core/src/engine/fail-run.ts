import { isRefusal, type Logger, perdureError, type RunRecord } from '@perdure/ports'
import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'
import { type EndRunDeps, endRun, executionOf } from './end-run.ts'

export interface FailRunDeps extends EndRunDeps, RetryDeps {
  readonly logger: Logger
}

/** Fails a run whose execution the server could not complete, so that no run stays running without an owner. */
export async function failRun(deps: FailRunDeps, run: RunRecord, error: unknown): Promise<void> {
  deps.logger.error('run outcome not recorded', error, { runId: run.id })
  const reason = { code: 'run-failed', message: 'the server could not record the outcome of the run' }
  try {
    const how = { status: 'failed', finishReason: 'error', error: reason } as const
    const end = { ...how, execution: executionOf(run) }
    const ended = await retryTransient(deps, () => endRun(deps, run, end))
    // The run had already ended, but its waiters in this process were never notified.
    if (ended === undefined) deps.runWaiters.reject(run.id, toRefusal(error))
  } catch (cause) {
    deps.runWaiters.reject(run.id, toRefusal(cause))
  }
}

const toRefusal = (error: unknown) => (isRefusal(error) ? error : perdureError('internal-error', { cause: error }))
