/** A name without what a header or a path could misread. */
export function shownName(name: string | undefined): string | undefined {
  const shown = name
    ?.toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cs}\p{Bidi_Control}/\\]/gu, '_')
    .slice(0, 255)
    .toWellFormed()
  return shown === '' ? undefined : shown
}
