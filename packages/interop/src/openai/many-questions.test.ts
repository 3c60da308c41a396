import { describe, expect, it, vi } from 'vitest'
import { logOf } from '../run-logs/events.fixture.ts'
import { createSegments } from './segments.ts'

/** A run that asks so many questions at once and gets an answer to each. */
const asked = (count: number) => {
  const ids = Array.from({ length: count }, (_, n) => `apr_${n}`)
  const waitingFor = ids.map((approvalId) => ({ kind: 'approval', approvalId }))
  const events: [string, unknown][] = [
    ['run.started', { status: 'running', attempt: 1 }],
    ...ids.map((approvalId): [string, unknown] => ['approval.requested', { approvalId, name: 'go', runId: 'run_0' }]),
    ['run.suspended', { status: 'suspended', attempt: 1, waitingFor }],
    ...ids.map((approvalId): [string, unknown] => ['approval.resolved', { approvalId, decision: 'approved' }]),
    ['run.completed', {}],
  ]
  return logOf(events)
}

/** How many items the methods of lists look at while the log is folded. */
function costOf(count: number): number {
  const events = asked(count)
  let cost = 0
  const spies = (['includes', 'filter', 'map', 'sort', 'toSorted', 'some'] as const).map((name) => {
    const original = Array.prototype[name] as (...args: unknown[]) => unknown
    return vi.spyOn(Array.prototype, name).mockImplementation(function (this: unknown[], ...args: unknown[]) {
      cost += this.length
      return original.apply(this, args) as never
    })
  })
  const segments = createSegments('run_0')
  for (const event of events) segments.next(event)
  for (const spy of spies) spy.mockRestore()
  expect(segments.current()).toBe(2)
  return cost
}

describe('the segments of a run with many questions at once', () => {
  it('cost about as much for each question however many there are', () => {
    const few = costOf(500) / 500
    const many = costOf(4_000) / 4_000

    expect(few).toBeGreaterThan(0)
    expect(many).toBeLessThan(few + 4_000 / 64)
  })
})
