import { describe, expect, it } from 'vitest'
import { html, prose, trusted } from './html.ts'

describe('html', () => {
  it('escapes interpolated text, but not interpolated Html', () => {
    const bold = html`<b>${'a<b>&"\''}</b>`

    expect(bold.markup).toBe('<b>a&#60;b&#62;&#38;&#34;&#39;</b>')
    expect(html`<p title="${'"'}">${bold}${[bold, bold]}${undefined}${3}</p>`.markup).toBe(
      `<p title="&#34;">${bold.markup}${bold.markup}${bold.markup}3</p>`,
    )
    expect(html`${trusted('<i>')}`.markup).toBe('<i>')
  })
})

describe('prose', () => {
  it('renders text in backticks as escaped code', () => {
    expect(html`${prose('Needs `<a>` & more.')}`.markup).toBe('Needs <code>&#60;a&#62;</code> &#38; more.')
  })
})
