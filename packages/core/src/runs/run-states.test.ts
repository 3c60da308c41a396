import type { RunStatus } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { isTerminal, RUN_TRANSITIONS, statusesBefore } from './run-states.ts'

const STATUSES = Object.keys(RUN_TRANSITIONS) as RunStatus[]
const LIVE = ['queued', 'running', 'suspended'] as const

/** The statuses that can be reached from `status`, itself included. */
function reachable(status: RunStatus, seen = new Set<RunStatus>()): ReadonlySet<RunStatus> {
  if (seen.has(status)) return seen
  seen.add(status)
  for (const next of RUN_TRANSITIONS[status]) reachable(next, seen)
  return seen
}

describe('RUN_TRANSITIONS', () => {
  it('ends a run for good once it has completed, failed or was aborted', () => {
    expect(STATUSES.filter(isTerminal)).toEqual(['completed', 'failed', 'aborted'])
  })

  it('can abort and fail a run from everywhere before', () => {
    for (const to of ['aborted', 'failed'] as const) expect(statusesBefore(to)).toEqual(LIVE)
  })

  it('completes and suspends only what runs', () => {
    expect(statusesBefore('completed')).toEqual(['running'])
    expect(statusesBefore('suspended')).toEqual(['running'])
  })

  it('leads from every live status to every other one', () => {
    for (const from of LIVE) expect(reachable(from)).toEqual(new Set(STATUSES))
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
