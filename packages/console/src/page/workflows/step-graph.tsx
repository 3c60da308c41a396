import { Scroll } from '../parts/scroll.tsx'
import type { Span } from '../run/span-fold.ts'
import { layersOf } from './graph-layers.ts'

/** Above this number of steps, only the list is drawn. */
const MAX_STEPS = 200
const WIDTH = 172
const HEIGHT = 40
const GAP = 20
const LONGEST_NAME = 22
const MARKS: Readonly<Record<Span['status'], string>> = { done: '✓', failed: '✕', running: '▶' }

/** The calls of a run from top to bottom; calls beside each other were made at the same time. The list has the same calls. */
export function StepGraph({ spans }: { readonly spans: readonly Span[] }) {
  const calls = spans.filter(({ seq, kind }) => seq !== undefined && kind !== 'version')
  if (calls.length === 0 || calls.length > MAX_STEPS) return null
  const layers = layersOf(calls)
  const widest = Math.max(...layers.map((layer) => layer.length))
  const width = widest * (WIDTH + GAP) - GAP + 2
  const height = layers.length * (HEIGHT + GAP) - GAP + 2
  const placed = layers.map((layer, row) =>
    layer.map((span, column) => ({
      span,
      x: 1 + (width - 2 - layer.length * (WIDTH + GAP) + GAP) / 2 + column * (WIDTH + GAP),
      y: 1 + row * (HEIGHT + GAP),
    })),
  )
  const lines = placed
    .slice(1)
    .flatMap((layer, row) =>
      layer.flatMap(({ span: to, x, y }) =>
        (placed[row] ?? [])
          .filter(({ span: from }) => from.end !== undefined && from.end <= to.start)
          .map((from) => (
            <line
              key={`${from.span.id} ${to.id}`}
              x1={from.x + WIDTH / 2}
              y1={from.y + HEIGHT}
              x2={x + WIDTH / 2}
              y2={y}
            />
          )),
      ),
    )
  return (
    <Scroll label="Graph of the calls">
      <svg
        class="graph"
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`Graph of ${calls.length} calls in ${layers.length} layers; the list below has the same calls`}
      >
        {lines}
        {placed.flat().map(({ span, x, y }) => (
          <g key={span.id} class={`node is-${span.status}`} transform={`translate(${x} ${y})`}>
            <title>
              {span.name} ({span.kind}, {span.status})
            </title>
            <rect width={WIDTH} height={HEIGHT} rx="6" />
            <text x="10" y="17">
              {MARKS[span.status]} {cut(span.name)}
            </text>
            <text x="10" y="32" class="kind">
              {span.kind}
            </text>
          </g>
        ))}
      </svg>
    </Scroll>
  )
}

const cut = (name: string): string => (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name)
