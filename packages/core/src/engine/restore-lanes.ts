import type { Clock, LaneStore, UnitOfWork } from '@perdure/ports'
import type { Admission } from './admission.ts'

export interface RestoreLanesDeps {
  readonly lanes: LaneStore
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
}

const BATCH = 500

/** Deletes the slots that are free again, and registers those that earlier runs still keep taken. */
export async function restoreLanes(
  { lanes, unitOfWork, clock }: RestoreLanesDeps,
  admission: Pick<Admission, 'restore'>,
): Promise<void> {
  const now = clock.now()
  for (let pruned = BATCH; pruned === BATCH; ) {
    const outcome = await unitOfWork.commit([{ type: 'lane.prune', now, limit: BATCH }])
    pruned = outcome.committed ? (outcome.counts[0] ?? 0) : 0
  }
  for (let after: { readonly lane: string; readonly slot: number } | undefined; ; ) {
    const slots = await lanes.taken({ now, after, limit: BATCH })
    admission.restore(slots)
    after = slots.at(-1)
    if (after === undefined) return
  }
}
