import type { Span } from './span-fold.ts'

/** A span and how deep it is in the tree; the run itself has the depth 0. */
export interface TreeSpan {
  readonly span: Span
  readonly depth: number
}

/** The spans below the run, each after the one that it is a part of, otherwise in the order of their start. */
export function treeOf(root: Span, spans: readonly Span[]): readonly TreeSpan[] {
  const parts = Map.groupBy(spans, ({ parent }) => parent)
  if (parts.size <= 1) return [{ span: root, depth: 0 }, ...spans.map((span) => ({ span, depth: 1 }))]
  const rows: TreeSpan[] = [{ span: root, depth: 0 }]
  const add = (parent: string | undefined, depth: number) => {
    for (const span of parts.get(parent) ?? []) {
      rows.push({ span, depth })
      add(span.id, depth + 1)
    }
  }
  add(undefined, 1)
  return rows
}
