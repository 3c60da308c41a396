/** Markup that is safe to insert into a page unescaped. */
export interface Html {
  readonly markup: string
}

type HtmlValue = string | number | Html | readonly Html[] | undefined

/** Builds HTML. Interpolated text is escaped, `Html` is inserted as is, and `undefined` yields nothing. */
export const html = (parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html => ({
  markup: parts.map((part, index) => (index === 0 ? part : markupOf(values[index - 1]) + part)).join(''),
})

/** Marks text as safe markup. Only for the styles and scripts that `pnpm derive` generates. */
export const trusted = (markup: string): Html => ({ markup })

/** Converts text with `code` in backticks to HTML. */
export const prose = (text: string): readonly Html[] =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))

function markupOf(value: HtmlValue): string {
  if (value === undefined) return ''
  if (typeof value === 'object') return 'markup' in value ? value.markup : value.map(markupOf).join('')
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
