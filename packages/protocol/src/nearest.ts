/** The known word closest to `word`, if `word` is likely a typo of it. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const ranked = known.map((candidate) => ({ candidate, distance: distanceOf(word, candidate) }))
  const best = ranked.toSorted((a, b) => a.distance - b.distance)[0]
  return best !== undefined && best.distance <= Math.max(1, Math.floor(word.length * 0.25)) ? best.candidate : undefined
}

/** Number of insertions, deletions and replacements that turn one word into the other. */
function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...to].entries()) {
      next.push(Math.min((row[j] ?? 0) + (letter === other ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
