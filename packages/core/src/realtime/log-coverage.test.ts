import { describe, expect, it } from 'vitest'
import { createLogCoverage } from './log-coverage.ts'

/** Publishes commits, each with the positions of its events. */
function published(...commits: readonly (readonly number[])[]) {
  const coverage = createLogCoverage()
  for (const positions of commits) coverage.add(positions.map((position) => ({ position })))
  return coverage
}

describe('createLogCoverage', () => {
  it('misses no position of commits that were published in order', () => {
    const { misses } = published([1], [2, 3], [4])

    expect([misses(4), misses(5)]).toEqual([false, true])
  })

  it('misses no position of two commits that were published in the reverse order', () => {
    expect(published([1], [4], [2, 3]).misses(4)).toBe(false)
    expect(published([1], [4], [5], [2, 3], [6]).misses(6)).toBe(false)
  })

  it('misses an event between two commits until it is covered', () => {
    const coverage = published([1], [3], [4])

    expect([coverage.misses(1), coverage.misses(4)]).toEqual([false, true])
    coverage.coverThrough(2)
    expect([coverage.misses(4), coverage.misses(5)]).toEqual([false, true])
  })

  it('never forgets a second gap when the first one is filled', () => {
    const { misses } = published([1], [3], [5], [2])

    expect(misses(5)).toBe(true)
  })
})
