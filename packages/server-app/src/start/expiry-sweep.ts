import type { Clock, Cluster, Logger, Timers, UnitOfWork } from '@perdure/ports'

export interface ExpirySweepDeps {
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Logger
  readonly cluster: Pick<Cluster, 'isMine'>
}

const INTERVAL_MS = 60_000
const BATCH_SIZE = 500

/**
 * Deletes expired idempotency records, slots of rate limits and the usage of deleted runs of past days every minute, in
 * batches. Returns a function that stops the sweep.
 */
export function startExpirySweep({ unitOfWork, clock, timers, logger, cluster }: ExpirySweepDeps): () => void {
  let isStopped = false
  let cancel = () => {}

  const schedule = (delayMs: number) => {
    if (!isStopped) cancel = timers.after(delayMs, sweep)
  }
  const sweep = () => {
    if (!cluster.isMine('sweep')) return schedule(INTERVAL_MS)
    const expired = { now: clock.now(), limit: BATCH_SIZE }
    unitOfWork
      .commit([
        { type: 'idempotency.prune', ...expired },
        { type: 'lane.prune', ...expired },
        { type: 'usage.prune', ...expired },
      ])
      .then((outcome) => schedule(outcome.committed && outcome.counts.includes(BATCH_SIZE) ? 0 : INTERVAL_MS))
      .catch((error: unknown) => {
        logger.error('failed to delete expired records', error)
        schedule(INTERVAL_MS)
      })
  }

  schedule(INTERVAL_MS)
  return () => {
    isStopped = true
    cancel()
  }
}
