import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Frame } from '../projection.ts'
import { logOf, RUN } from '../run-logs/events.fixture.ts'
import { createCallProjector } from './projector.ts'
import { createTaskProjector } from './task-projector.ts'

afterEach(() => vi.restoreAllMocks())

const ITEMS = 5_000
const APPROVALS = 200

const approval = (index: number) => ({ approvalId: `apr_${index}`, runId: RUN, name: 'pay', payload: { index } })

/** A run that shows many items and asks for many approvals, one after another. */
const log = logOf([
  ['run.started', { status: 'running', attempt: 1 }],
  ...Array.from({ length: ITEMS }, (_, index): [string, unknown] => [
    'part.data',
    { name: 'row', id: `${index}`, data: 0 },
  ]),
  ...Array.from({ length: APPROVALS }, (_, index): readonly [string, unknown][] => [
    ['approval.requested', approval(index)],
    ['run.suspended', { status: 'suspended', waitingFor: [{ kind: 'approval', name: 'pay' }] }],
    ['approval.resolved', { approvalId: `apr_${index}`, decision: 'approved' }],
    ['run.resumed', { status: 'running' }],
  ]).flat(),
  ['run.completed', { status: 'completed', attempt: 1, finishReason: 'completed', result: 'done' }],
])

/** The frames of the log, and how many items are listed for them. */
function projected(next: (event: (typeof log)[number]) => readonly Frame[]) {
  const { flat } = Array.prototype
  let listed = 0
  vi.spyOn(Array.prototype, 'flat').mockImplementation(function (this: unknown[], depth?: number) {
    const all = flat.call(this, depth)
    listed += all.length
    return all as never
  })
  const frames = log.flatMap((event) => next(event))
  const asked = frames.filter(({ isUnanswered }) => isUnanswered?.() === true)
  vi.restoreAllMocks()
  return { frames, asked, listed }
}

const digest = { sha256: () => '' }

describe('a run with many items that asks for many approvals', () => {
  it('is shown as a task without listing all items for each of them', () => {
    const projector = createTaskProjector(digest, { id: RUN, createdAt: 0 as never }, 1)

    const { frames, listed } = projected((event) => projector.next(event))

    expect(frames).toHaveLength(2 * APPROVALS + 2)
    expect(frames.at(-2)?.data).toContain('"status":"working"')
    expect(frames.at(-3)?.data).toContain(`apr_${APPROVALS - 1}`)
    expect(frames.at(-1)?.data).toContain('done')
    expect(listed).toBeLessThan(4 * ITEMS)
  })

  it('is shown as the answer to a tool call without listing all items for each of them', () => {
    const client = { era: 'legacy', elicits: true, isPrimed: false, progressToken: undefined } as const
    const projector = createCallProjector({ runId: RUN, requestId: 1, digest, client, toResult: (result) => result })

    const { frames, asked, listed } = projected((event) => projector.next(event))

    expect(frames).toHaveLength(APPROVALS + 1)
    expect(asked).toEqual([])
    expect(listed).toBeLessThan(4 * ITEMS)
  })
})
