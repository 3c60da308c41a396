import { describe, expect, it } from 'vitest'
import type { RunSummary } from '../client/resources.ts'
import { withOlder } from './merge-run-pages.ts'

const run = (number: number): RunSummary =>
  ({ id: `run_${number}`, createdAt: `2026-03-02T09:00:0${number}.000Z` }) as RunSummary
const page = (numbers: readonly number[], nextCursor: string | null = 'older') => ({
  items: numbers.map(run),
  nextCursor,
})
const idsOf = ({ items }: { readonly items: readonly RunSummary[] }) => items.map(({ id }) => id)

describe('withOlder', () => {
  it('adds new runs before the runs that were read earlier', () => {
    const merged = withOlder(page([5, 4, 3]), page([4, 3, 2, 1], 'end'))

    expect(idsOf(merged)).toEqual(['run_5', 'run_4', 'run_3', 'run_2', 'run_1'])
    expect(merged.nextCursor).toBe('end')
  })

  it('drops a run that the first page no longer contains', () => {
    expect(idsOf(withOlder(page([5, 3]), page([5, 4, 3, 2])))).toEqual(['run_5', 'run_3', 'run_2'])
  })

  it('shows nothing older when the first page is the whole list', () => {
    expect(idsOf(withOlder(page([5], null), page([5, 4])))).toEqual(['run_5'])
  })
})
