import { useState } from 'preact/hooks'

const LONG = 12_000

/** A text as its author wrote it, without the space around it, and never as markup. Of a long one, the beginning is shown at first. */
export function Prose({ text: written, label }: { readonly text: string; readonly label: string }) {
  const text = written.trim()
  const [isWhole, setWhole] = useState(false)
  const isCut = !isWhole && text.length > LONG
  return (
    <section class="prose" aria-label={label}>
      <p>{isCut ? text.slice(0, LONG) : text}</p>
      {isCut ? (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString()} characters
        </button>
      ) : null}
    </section>
  )
}
