import { useState } from 'preact/hooks'
import { withVisibleOrder } from './visible-order.ts'

const LONG = 4_000

export interface JsonViewProps {
  readonly value: unknown
  readonly label: string
  /** Called when the reader shows all of a long text. */
  readonly onWhole?: () => void
}

const textOf = (value: unknown): string =>
  withVisibleOrder(typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? 'undefined'))

/** Whether `JsonView` shows only the beginning at first. */
export const isLong = (value: unknown): boolean => textOf(value).length > LONG

/** A JSON value as text, never as markup. */
export function JsonView({ value, label, onWhole }: JsonViewProps) {
  const [isWhole, setWhole] = useState(false)
  const text = textOf(value)
  const isCut = !isWhole && text.length > LONG
  const showAll = () => {
    setWhole(true)
    onWhole?.()
  }
  return (
    <section class="json" aria-label={label}>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long text is scrolled with the keys
        tabIndex={0}
      >
        {isCut ? text.slice(0, LONG) : text}
      </pre>
      {isCut ? (
        <button type="button" class="link" onClick={showAll}>
          Show all {text.length.toLocaleString()} characters
        </button>
      ) : null}
    </section>
  )
}
