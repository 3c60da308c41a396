/** Text that may stand in an HTML page as it is. */
export interface Html {
  readonly markup: string
}

type HtmlValue = string | number | Html | readonly Html[] | undefined

/** A piece of HTML. What is put in is text and gets escaped, unless it is HTML already; `undefined` is nothing. */
export const html = (parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html => ({
  markup: parts.map((part, index) => (index === 0 ? part : markupOf(values[index - 1]) + part)).join(''),
})

/** For what is known to be harmless where it stands: a derived style or script. */
export const trusted = (markup: string): Html => ({ markup })

/** Text in which `code` stands between backticks. */
export const prose = (text: string): readonly Html[] =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))

function markupOf(value: HtmlValue): string {
  if (value === undefined) return ''
  if (typeof value === 'object') return 'markup' in value ? value.markup : value.map(markupOf).join('')
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
