import type { Clock, Meter, UnitOfWork } from '@perdure/ports'

export interface CommitTimingDeps {
  readonly clock: Clock
  readonly meter: Meter
}

/** Measures how long each commit takes, including its wait for a commit group. */
export function withCommitTiming(unitOfWork: UnitOfWork, { clock, meter }: CommitTimingDeps): UnitOfWork {
  return {
    async commit(writes) {
      const startedMs = clock.monotonicMs()
      try {
        return await unitOfWork.commit(writes)
      } finally {
        const seconds = (clock.monotonicMs() - startedMs) / 1_000
        meter.observe('svc_storage_commit_duration_seconds', {}, seconds)
      }
    },
  }
}
