import type { Clock, LaneSlot, LaneStore } from '@perdure/ports'
import type { Admission } from './admission.ts'

export interface RestoreLanesDeps {
  readonly lanes: LaneStore
  readonly clock: Clock
}

const BATCH = 500

/** Registers the slots that earlier runs still keep taken. */
export async function restoreLanes(
  { lanes, clock }: RestoreLanesDeps,
  admission: Pick<Admission, 'restore'>,
): Promise<void> {
  const now = clock.now()
  let after: Pick<LaneSlot, 'lane' | 'slot'> | undefined
  do {
    const slots = await lanes.taken({ now, after, limit: BATCH })
    admission.restore(slots)
    after = slots.at(-1)
  } while (after !== undefined)
}
