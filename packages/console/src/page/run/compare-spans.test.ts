import { expect, it } from 'vitest'
import { compareSpans } from './compare-spans.ts'
import type { Span } from './span-fold.ts'

const span = (kind: Span['kind'], name: string, start: number) => ({ kind, name, start }) as Span

it('pairs the n-th span of a name with the n-th of the same name, and keeps those without a counterpart', () => {
  const one = [span('step', 'fetch', 1), span('tool', 'send', 2), span('step', 'fetch', 3)]
  const other = [span('step', 'fetch', 10), span('step', 'store', 20)]

  expect(compareSpans(one, other).map((pair) => [pair.name, pair.one?.start, pair.other?.start])).toEqual([
    ['fetch', 1, 10],
    ['send', 2, undefined],
    ['fetch', 3, undefined],
    ['store', undefined, 20],
  ])
})
