import { createManualClock } from '@perdure/testkit'
import { expect, it } from 'vitest'
import { createLongestLimit } from './longest-limit.ts'
import { createOtherNodes } from './other-nodes.fixture.ts'

const HOUR = 3_600_000

function setUp() {
  const clock = createManualClock()
  const { nodes, others, declaring } = createOtherNodes()
  const longest = createLongestLimit({ clock, nodes, executor: 'self', undeclaredMs: HOUR })
  return {
    ...{ clock, others },
    keeps: (days: number) => others.set('other', [declaring('retention', 'runsDays', String(days))]),
    of: (own: number | undefined) => longest('retention', 'runsDays', own),
  }
}

it('returns the longest limit of the living processes', async () => {
  const { keeps, of } = setUp()
  expect(await of(3)).toBe(3)
  keeps(30)
  expect(await of(3)).toBe(30)
  keeps(2)
  expect(await of(40)).toBe(40)
})

it('deletes nothing while a process keeps everything, or does not tell its limits', async () => {
  const { others, of } = setUp()
  others.set('other', [])
  expect(await of(3)).toBeUndefined()
  others.set('other', undefined)
  expect(await of(3)).toBeUndefined()
})

it('respects the limit of a process that has left for the grace period', async () => {
  const { clock, others, keeps, of } = setUp()
  keeps(30)
  await of(3)
  others.clear()

  clock.advance(HOUR - 1)
  expect(await of(3)).toBe(30)
  clock.advance(1)
  expect(await of(3)).toBe(3)
})

it('respects a process that keeps everything for the grace period after it has left', async () => {
  const { clock, others, of } = setUp()
  others.set('other', [])
  await of(3)
  others.clear()

  expect(await of(3)).toBeUndefined()
  clock.advance(HOUR)
  expect(await of(3)).toBe(3)
})
