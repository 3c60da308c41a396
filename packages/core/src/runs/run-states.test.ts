import type { RunStatus } from '@perdure/ports'
import { ACTIVE_RUN_STATUSES, ENDED_RUN_STATUSES } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { RUN_TRANSITIONS, statusesBefore } from './run-states.ts'

const STATUSES = Object.keys(RUN_TRANSITIONS) as RunStatus[]

/** The statuses that can be reached from `status`, itself included. */
function reachable(status: RunStatus, seen = new Set<RunStatus>()): ReadonlySet<RunStatus> {
  if (seen.has(status)) return seen
  seen.add(status)
  for (const next of RUN_TRANSITIONS[status]) reachable(next, seen)
  return seen
}

describe('RUN_TRANSITIONS', () => {
  it('allows no transition from completed, failed or aborted', () => {
    expect(STATUSES.filter((status) => RUN_TRANSITIONS[status].length === 0)).toEqual(ENDED_RUN_STATUSES)
  })

  it('allows aborting and failing from every active status', () => {
    for (const to of ['aborted', 'failed'] as const) expect(statusesBefore(to)).toEqual(ACTIVE_RUN_STATUSES)
  })

  it('allows completing from queued when another run takes the message, and suspending from queued when the code of the run is missing', () => {
    expect(statusesBefore('completed')).toEqual(['queued', 'running'])
    expect(statusesBefore('suspended')).toEqual(['queued', 'running'])
  })

  it('leads from every active status to every other status', () => {
    for (const from of ACTIVE_RUN_STATUSES) expect(reachable(from)).toEqual(new Set(STATUSES))
  })
})

describe('statusesBefore', () => {
  it('inverts RUN_TRANSITIONS', () => {
    for (const from of STATUSES) {
      for (const to of STATUSES) {
        expect(statusesBefore(to).includes(from)).toBe((RUN_TRANSITIONS[from] as readonly RunStatus[]).includes(to))
      }
    }
  })
})
