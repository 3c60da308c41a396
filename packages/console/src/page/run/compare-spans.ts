import type { Span } from './span-fold.ts'

/** A span of one run and its counterpart in the other. */
export interface ComparedSpan {
  readonly key: string
  readonly name: string
  readonly one: Span | undefined
  readonly other: Span | undefined
}

/** Pairs the spans of two runs: the n-th span of a kind and name with the n-th of the same kind and name. */
export function compareSpans(one: readonly Span[], other: readonly Span[]): readonly ComparedSpan[] {
  const left = keyed(one)
  const right = keyed(other)
  return [...new Set([...left.keys(), ...right.keys()])].map((key) => {
    const [mine, theirs] = [left.get(key), right.get(key)]
    return { key, name: mine?.name ?? theirs?.name ?? '', one: mine, other: theirs }
  })
}

function keyed(spans: readonly Span[]): Map<string, Span> {
  const counts = new Map<string, number>()
  return new Map(
    spans.map((span) => {
      const base = `${span.kind} ${span.name}`
      const count = (counts.get(base) ?? 0) + 1
      counts.set(base, count)
      return [`${base} ${count}`, span]
    }),
  )
}
