import { describe, expect, it } from 'vitest'
import type { Span } from './span-fold.ts'
import { treeOf } from './span-tree.ts'

const span = (id: string, parent?: string): Span => ({
  ...{ id, name: id, kind: 'step', start: 0, end: 1, status: 'done', parent, seq: undefined, detail: undefined },
  ...{
    tokens: undefined,
    costUsd: undefined,
    input: undefined,
    output: undefined,
    file: undefined,
    childRunId: undefined,
  },
})

describe('treeOf', () => {
  it('puts the parts of a span after it, although another one has started in between', () => {
    const rows = treeOf(span('run'), [span('a'), span('b'), span('a.1', 'a'), span('a.1.1', 'a.1'), span('b.1', 'b')])

    expect(rows.map(({ span: { id }, depth }) => `${depth} ${id}`)).toEqual([
      ...['0 run', '1 a', '2 a.1', '3 a.1.1', '1 b', '2 b.1'],
    ])
  })

  it('is the run alone without spans', () => {
    expect(treeOf(span('run'), [])).toHaveLength(1)
  })
})
