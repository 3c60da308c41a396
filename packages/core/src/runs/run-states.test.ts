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
  it('ends a run for good once it has completed, failed or was aborted', () => {
    expect(STATUSES.filter((status) => RUN_TRANSITIONS[status].length === 0)).toEqual(ENDED_RUN_STATUSES)
  })

  it('can abort and fail a run from everywhere before', () => {
    for (const to of ['aborted', 'failed'] as const) expect(statusesBefore(to)).toEqual(ACTIVE_RUN_STATUSES)
  })

  it('completes and suspends only what runs', () => {
    expect(statusesBefore('completed')).toEqual(['running'])
    expect(statusesBefore('suspended')).toEqual(['running'])
  })

  it('leads from every live status to every other one', () => {
    for (const from of ACTIVE_RUN_STATUSES) expect(reachable(from)).toEqual(new Set(STATUSES))
  })
})

describe('statusesBefore', () => {
  it('is the table read backwards', () => {
    for (const from of STATUSES) {
      for (const to of STATUSES) {
        expect(statusesBefore(to).includes(from)).toBe((RUN_TRANSITIONS[from] as readonly RunStatus[]).includes(to))
      }
    }
  })
})
