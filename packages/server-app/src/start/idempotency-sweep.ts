import type { Clock, Logger, Timers, UnitOfWork } from '@perdure/ports'

export interface IdempotencySweepDeps {
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Logger
}

const EVERY_MS = 60_000
const ROWS = 500

/** Deletes expired idempotency records now and then, a bounded number at a time. Returns a function that ends it. */
export function startIdempotencySweep({ unitOfWork, clock, timers, logger }: IdempotencySweepDeps): () => void {
  let isEnded = false
  let cancel = () => {}

  const schedule = (delayMs: number) => {
    if (!isEnded) cancel = timers.after(delayMs, sweep)
  }
  const sweep = () => {
    unitOfWork
      .commit([{ type: 'idempotency.prune', now: clock.now(), limit: ROWS }])
      .then((outcome) => schedule(outcome.committed && outcome.counts[0] === ROWS ? 0 : EVERY_MS))
      .catch((error: unknown) => {
        logger.error('expired idempotency records not deleted', error)
        schedule(EVERY_MS)
      })
  }

  schedule(EVERY_MS)
  return () => {
    isEnded = true
    cancel()
  }
}
