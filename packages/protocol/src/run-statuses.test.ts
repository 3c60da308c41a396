import { describe, expect, it } from 'vitest'
import { EVENTS } from './events.ts'
import {
  ACTIVE_RUN_STATUSES,
  ENDED_RUN_STATUSES,
  isTerminal,
  RUN_ENDING_EVENTS,
  RUN_STATUS_NAMES,
  RUN_STATUSES,
} from './run-statuses.ts'

describe('RUN_STATUSES', () => {
  it('divides all statuses into active and ended ones', () => {
    expect(ACTIVE_RUN_STATUSES).toEqual(['queued', 'running', 'suspended'])
    expect(ENDED_RUN_STATUSES).toEqual(['completed', 'failed', 'aborted'])
    expect([...ACTIVE_RUN_STATUSES, ...ENDED_RUN_STATUSES].sort()).toEqual([...RUN_STATUS_NAMES].sort())
  })

  it('treats exactly the ended statuses as terminal', () => {
    expect(RUN_STATUS_NAMES.filter(isTerminal)).toEqual(ENDED_RUN_STATUSES)
  })

  it('names an existing lifecycle event for every ended status and for no other', () => {
    expect(Object.entries(RUN_STATUSES).flatMap(([name, spec]) => ('endedBy' in spec ? [name] : []))).toEqual(
      ENDED_RUN_STATUSES,
    )
    expect(RUN_ENDING_EVENTS).toHaveLength(ENDED_RUN_STATUSES.length)
    for (const type of RUN_ENDING_EVENTS) expect(EVENTS).toHaveProperty([type, 'lifecycle'], true)
  })
})
