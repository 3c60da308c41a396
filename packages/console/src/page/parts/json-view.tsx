import { useState } from 'preact/hooks'

const LONG = 4_000

/** A JSON value as text, never as markup. */
export function JsonView({ value, label }: { readonly value: unknown; readonly label: string }) {
  const [isWhole, setWhole] = useState(false)
  const text = typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? 'undefined')
  const isCut = !isWhole && text.length > LONG
  return (
    <section class="json" aria-label={label}>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long text is scrolled with the keys
        tabIndex={0}
      >
        {isCut ? text.slice(0, LONG) : text}
      </pre>
      {isCut ? (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString()} characters
        </button>
      ) : null}
    </section>
  )
}
