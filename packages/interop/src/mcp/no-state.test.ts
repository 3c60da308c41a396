import { afterEach, describe, expect, it, vi } from 'vitest'
import { logOf, RUN } from '../run-logs/events.fixture.ts'
import { createTaskProjector } from './task-projector.ts'

afterEach(() => vi.restoreAllMocks())

/** A run whose state has many members, and is patched often. */
const patched = logOf([
  ['run.started', { status: 'running', attempt: 1 }],
  ['part.state', { state: Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, index])) }],
  ...Array.from({ length: 50 }, (): [string, unknown] => [
    'part.state-delta',
    { patch: [{ op: 'replace', path: '/k1', value: 0 }] },
  ]),
  ['run.completed', { status: 'completed', attempt: 1, finishReason: 'completed', result: 'done' }],
])

describe('a task', () => {
  it('shows no state, so that the patches of its run are not applied', () => {
    const keys = vi.spyOn(Object, 'keys')
    const projector = createTaskProjector({ sha256: () => '' }, { id: RUN, createdAt: 0 as never }, 1)

    const frames = patched.flatMap((event) => projector.next(event))

    const listed = keys.mock.results.reduce((sum, { value }) => sum + (value as readonly string[]).length, 0)
    expect(JSON.parse(frames.at(-1)?.data ?? '')).toMatchObject({ params: { status: 'completed' } })
    expect(listed).toBeLessThan(1_000)
  })
})
