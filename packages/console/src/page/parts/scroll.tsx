import type { ComponentChildren } from 'preact'

/** A wide table in a box that scrolls sideways, also with the keys. */
export function Scroll({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keys cannot scroll a table that has no links
    <section class="scroll" aria-label={label} tabIndex={0}>
      {children}
    </section>
  )
}
