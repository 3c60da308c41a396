import { createManualClock } from '@perdure/testkit'
import { type AdmissionOptions, createAdmission, type SlotRequest } from './admission.ts'
import type { Lane } from './lane.ts'

export type ManualClock = ReturnType<typeof createManualClock>

/** An admission whose clock moves only when a test advances it. */
export const createTestAdmission = (options: AdmissionOptions, clock: ManualClock = createManualClock()) =>
  createAdmission(options, { clock, timers: clock })

/** A lane with one slot; none without a name. */
export const lanesOf = (name: string | undefined): readonly Lane[] => (name === undefined ? [] : [{ name, limit: 1 }])

export const claimOf = (subject: string, runId: string, lane?: string): SlotRequest => ({
  ...{ runId, subject, lanes: lanesOf(lane), onBusy: 'queue' },
})
