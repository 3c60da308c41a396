import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface WindowedProps {
  readonly count: number
  readonly rowHeight: number
  readonly maxHeight: number
  readonly label: string
  readonly row: (index: number) => ComponentChildren
  /** Keeps the end in view while rows are added. */
  readonly followsEnd?: boolean
  /** The row to scroll to. */
  readonly shown?: number | undefined
}

const OVERSCAN = 8

/** A list that draws only the rows in view, so that its length costs nothing. */
export function Windowed({ count, rowHeight, maxHeight, label, row, followsEnd = false, shown }: WindowedProps) {
  const box = useRef<HTMLElement>(null)
  const [top, setTop] = useState(0)
  const height = Math.min(maxHeight, count * rowHeight)
  useLayoutEffect(() => {
    if (followsEnd && box.current !== null) box.current.scrollTop = count * rowHeight
  }, [followsEnd, count, rowHeight])
  useEffect(() => {
    if (shown === undefined || box.current === null) return
    const at = shown * rowHeight
    const { scrollTop } = box.current
    if (at < scrollTop || at + rowHeight > scrollTop + height) box.current.scrollTop = at - height / 2
  }, [shown, rowHeight, height])
  const first = Math.max(0, Math.floor(top / rowHeight) - OVERSCAN)
  const last = Math.min(count, Math.ceil((top + height) / rowHeight) + OVERSCAN)
  const rows = Array.from({ length: Math.max(0, last - first) }, (_, offset) => first + offset)
  return (
    <section
      class="windowed"
      ref={box}
      aria-label={`${label}, ${count} rows`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a long list is scrolled with the keys
      tabIndex={0}
      style={{ maxHeight: `${maxHeight}px` }}
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
    >
      <div style={{ height: `${count * rowHeight}px` }}>
        <div style={{ transform: `translateY(${first * rowHeight}px)` }}>
          {rows.map((index) => (
            <div key={index} style={{ height: `${rowHeight}px` }}>
              {row(index)}
            </div>
          ))}
        </div>
      </div>
    </section>
  )
}
