import type { Clock, Logger, Timers, UnitOfWork } from '@perdure/ports'

export interface IdempotencySweepDeps {
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Logger
}

const INTERVAL_MS = 60_000
const BATCH_SIZE = 500

/** Deletes expired idempotency records every minute, in batches. Returns a function that stops the sweep. */
export function startIdempotencySweep({ unitOfWork, clock, timers, logger }: IdempotencySweepDeps): () => void {
  let isStopped = false
  let cancel = () => {}

  const schedule = (delayMs: number) => {
    if (!isStopped) cancel = timers.after(delayMs, sweep)
  }
  const sweep = () => {
    unitOfWork
      .commit([{ type: 'idempotency.prune', now: clock.now(), limit: BATCH_SIZE }])
      .then((outcome) => schedule(outcome.committed && outcome.counts[0] === BATCH_SIZE ? 0 : INTERVAL_MS))
      .catch((error: unknown) => {
        logger.error('failed to delete expired idempotency records', error)
        schedule(INTERVAL_MS)
      })
  }

  schedule(INTERVAL_MS)
  return () => {
    isStopped = true
    cancel()
  }
}
