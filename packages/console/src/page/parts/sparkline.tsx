const WIDTH = 120
const HEIGHT = 26

/** A small line without an axis; the number beside it says what matters. */
export function Sparkline({ points }: { readonly points: readonly number[] }) {
  const highest = Math.max(...points, 0)
  if (points.length < 2 || highest === 0)
    return <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true" />
  const line = points
    .map(
      (value, index) =>
        `${((index / (points.length - 1)) * WIDTH).toFixed(1)},${(HEIGHT - 2 - (value / highest) * (HEIGHT - 4)).toFixed(1)}`,
    )
    .join(' ')
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <polyline points={line} />
    </svg>
  )
}
