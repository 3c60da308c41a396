import { useMemo, useState } from 'preact/hooks'
import { Empty, Status } from '../parts/basics.tsx'
import { durationText } from '../parts/time.tsx'
import { Windowed } from '../parts/windowed.tsx'
import type { Span } from './span-fold.ts'
import { type TreeSpan, treeOf } from './span-tree.ts'
import { createTimeScale, type TimeScale } from './time-scale.ts'

export interface WaterfallProps {
  /** The run itself, around its spans. */
  readonly root: Span
  readonly spans: readonly Span[]
  readonly version: number
  readonly from: number
  readonly to: number
  readonly selected: string | undefined
  readonly onSelect: (id: string) => void
}

const ROW = 26
/** How far the parts of a span are moved to the right. Pixels. */
const INDENT = 14
const MAX_HEIGHT = 520
const ZOOM = 4
/** A label after a bar that ends later would be cut off. */
const LABEL_FITS = 0.82

/** The spans of a run over time. Only the rows in view are drawn. */
export function Waterfall(props: WaterfallProps) {
  const { root, spans, version, from, to, selected, onSelect } = props
  const [zoomed, setZoomed] = useState<readonly [number, number] | undefined>(undefined)
  const [isTable, setTable] = useState(false)
  const scale = useMemo(() => {
    const [start, end] = zoomed ?? [from, to]
    const busy = spans
      .filter(({ kind }) => kind !== 'wait' && kind !== 'sleep' && kind !== 'approval' && kind !== 'event')
      .map((span) => ({ start: span.start, end: span.end ?? to }))
    return createTimeScale(start, end, zoomed === undefined ? busy : [])
  }, [spans, version, from, to, zoomed])
  const rows = useMemo(() => treeOf(root, spans), [root, spans, version])
  if (spans.length === 0) return <Empty>This run has recorded no steps, tools or model calls.</Empty>

  const index = rows.findIndex(({ span }) => span.id === selected)
  const zoomIn = () => {
    const span = rows[index]?.span
    const middle = span === undefined ? (from + to) / 2 : (span.start + (span.end ?? to)) / 2
    const [start, end] = zoomed ?? [from, to]
    const length = span?.end !== undefined && zoomed === undefined ? (span.end - span.start) * 3 : (end - start) / ZOOM
    const half = Math.max(1, length) / 2
    setZoomed([middle - half, middle + half])
  }
  const pan = (share: number) => {
    if (zoomed === undefined) return
    const by = (zoomed[1] - zoomed[0]) * share
    setZoomed([zoomed[0] + by, zoomed[1] + by])
  }
  const move = (by: number) => {
    const next = rows[Math.min(rows.length - 1, Math.max(0, index + by))]
    if (next !== undefined) onSelect(next.span.id)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const actions: Readonly<Record<string, () => void>> = {
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      ArrowRight: () => pan(0.25),
      ArrowLeft: () => pan(-0.25),
      '+': zoomIn,
      '-': () => setZoomed(undefined),
    }
    const action = actions[event.key]
    if (action === undefined || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    action()
  }
  return (
    <div class="waterfall">
      <div class="bar-tools">
        <button type="button" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          {isTable ? 'Show as bars' : 'Show as table'}
        </button>
        {isTable ? null : (
          <>
            <button type="button" onClick={zoomIn} title="Zoom in (+)">
              Zoom in
            </button>
            <button
              type="button"
              onClick={() => setZoomed(undefined)}
              disabled={zoomed === undefined}
              title="Whole run (-)"
            >
              Whole run
            </button>
            <button type="button" disabled={zoomed === undefined} title="Earlier (←)" onClick={() => pan(-0.5)}>
              ‹ Earlier
            </button>
            <button type="button" disabled={zoomed === undefined} title="Later (→)" onClick={() => pan(0.5)}>
              Later ›
            </button>
          </>
        )}
        <span class="quiet">{spans.length === 1 ? '1 span' : `${spans.length.toLocaleString()} spans`}</span>
      </div>
      {isTable ? (
        <SpanTable {...props} rows={rows} />
      ) : (
        // biome-ignore lint/a11y/noStaticElementInteractions: the keys add to the buttons above and to the rows
        <div onKeyDown={onKeyDown}>
          <Axis scale={scale} />
          <Windowed
            count={rows.length}
            rowHeight={ROW}
            maxHeight={MAX_HEIGHT}
            label="Waterfall of the run; arrow keys select a span"
            shown={index < 0 ? undefined : index}
            row={(at) => {
              const row = rows[at]
              return row === undefined ? null : (
                <Bar row={row} scale={scale} to={to} isSelected={at === index} onSelect={onSelect} />
              )
            }}
          />
        </div>
      )}
    </div>
  )
}

function Axis({ scale }: { readonly scale: TimeScale }) {
  return (
    <div class="axis" aria-hidden="true">
      <div />
      <div class="track">
        {scale.ticks.map(({ at, position }, index) => {
          const text = durationText(at)
          // Seconds after a wait can be too coarse to tell two ticks apart.
          if (index > 0 && text === durationText(scale.ticks[index - 1]?.at ?? 0)) return null
          return (
            <span
              key={at}
              class={index % 2 === 1 || position > LABEL_FITS ? 'is-spare' : undefined}
              style={{ left: `${position * 100}%` }}
            >
              {text}
            </span>
          )
        })}
        {scale.gaps.map((gap) => (
          <span
            key={gap.from}
            class="gap"
            title={`${durationText(gap.to - gap.from)} idle`}
            style={{
              left: `${scale.position(gap.from) * 100}%`,
              width: `${(scale.position(gap.to) - scale.position(gap.from)) * 100}%`,
            }}
          />
        ))}
      </div>
    </div>
  )
}

interface BarProps {
  readonly row: TreeSpan
  readonly scale: TimeScale
  readonly to: number
  readonly isSelected: boolean
  readonly onSelect: (id: string) => void
}

function Bar({ row: { span, depth }, scale, to, isSelected, onSelect }: BarProps) {
  const left = scale.position(span.start)
  const width = scale.position(span.end ?? to) - left
  const took = durationText((span.end ?? to) - span.start)
  // Beside the bar where there is space, else inside its end.
  const used = usedText(span)
  // A report of what was used may be all that is known of a model call: a point in time.
  const label = used === '' ? took : span.end === span.start ? used : `${took} · ${used}`
  const side = left + width < LABEL_FITS ? 'after' : left > 1 - LABEL_FITS ? 'before' : 'inside'
  return (
    <button
      type="button"
      class={`span-row kind-${span.kind} is-${span.status}`}
      aria-pressed={isSelected}
      tabIndex={isSelected ? 0 : -1}
      title={`${span.name} · ${label}`}
      onClick={() => onSelect(span.id)}
    >
      <span class="span-name" style={{ paddingLeft: `${depth * INDENT}px` }}>
        <span class="kind">{span.kind}</span> {span.name}
      </span>
      <span class="track">
        <span class="bar" style={{ left: `${left * 100}%`, width: `max(3px, ${width * 100}%)` }} />
        <span class={`took ${side}`} style={{ left: `${(side === 'before' ? left : left + width) * 100}%` }}>
          {span.status === 'failed' ? '✕ ' : ''}
          {label}
        </span>
      </span>
    </button>
  )
}

/** The tokens and the cost of a model call, or of the whole run. */
const usedText = ({ tokens, costUsd }: Span): string =>
  [
    tokens === undefined ? '' : `${tokens.toLocaleString()} tokens`,
    costUsd === undefined ? '' : `$${costUsd.toFixed(4)}`,
  ]
    .filter(Boolean)
    .join(' · ')

const PAGE = 200

/** The same spans as a table, for screen readers and for copying. */
function SpanTable({ rows, from, to, selected, onSelect }: WaterfallProps & { readonly rows: readonly TreeSpan[] }) {
  const [page, setPage] = useState(0)
  const pages = Math.ceil(rows.length / PAGE)
  return (
    <div class="scroll">
      <table>
        <caption class="hidden">Spans of the run, each before its parts</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Kind</th>
            <th scope="col">Status</th>
            <th scope="col" class="number">
              Start
            </th>
            <th scope="col" class="number">
              Duration
            </th>
            <th scope="col" class="number">
              Tokens
            </th>
            <th scope="col" class="number">
              Cost
            </th>
            <th scope="col">Detail</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(page * PAGE, (page + 1) * PAGE).map(({ span, depth }) => (
            <tr key={span.id} aria-selected={span.id === selected}>
              <th scope="row" style={{ paddingLeft: `${depth * INDENT}px` }}>
                <button type="button" class="link" onClick={() => onSelect(span.id)}>
                  {span.name}
                </button>
              </th>
              <td>{span.kind}</td>
              <td>
                <Status value={span.status === 'done' ? 'completed' : span.status} />
              </td>
              <td class="number">{durationText(span.start - from)}</td>
              <td class="number">{durationText((span.end ?? to) - span.start)}</td>
              <td class="number">{span.tokens?.toLocaleString()}</td>
              <td class="number">{span.costUsd === undefined ? null : `$${span.costUsd.toFixed(4)}`}</td>
              <td class="long">{span.detail}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {pages > 1 ? (
        <p class="pager">
          <button type="button" disabled={page === 0} onClick={() => setPage(page - 1)}>
            Previous
          </button>
          <span>
            Page {page + 1} of {pages}
          </span>
          <button type="button" disabled={page + 1 === pages} onClick={() => setPage(page + 1)}>
            Next
          </button>
        </p>
      ) : null}
    </div>
  )
}
