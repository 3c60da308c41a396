import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitSentences } from './split-sentences.ts'

const texts = (source: string) => splitSentences(source).map(({ text }) => text)

describe('splitSentences', () => {
  it('splits prose', () => {
    expect(texts('One is here. Is two? Three is!')).toEqual(['One is here.', 'Is two?', 'Three is!'])
  })

  it('does not split at abbreviations, initials and numbers', () => {
    expect(texts('Dr. Ada B. Lovelace wrote it, e.g. on p. 3.14 of it. Then she left the U.S. Navy. Done.')).toEqual([
      'Dr. Ada B. Lovelace wrote it, e.g. on p. 3.14 of it.',
      'Then she left the U.S. Navy.',
      'Done.',
    ])
  })

  it('does not split at a line break', () => {
    expect(texts('It goes\non here. Next.')).toEqual(['It goes\non here.', 'Next.'])
  })

  it('skips headings, code, tables, rules and lone links', () => {
    const source =
      '# Title\n\nProse one.\n\n```js\nlet a = 1. Not prose.\n```\n\n| a | b |\n|---|---|\n\n---\n\n[link](x)\n\nProse two.\n'

    expect(texts(source)).toEqual(['Prose one.', 'Prose two.'])
  })

  it('treats each list item as a sentence, without its marker', () => {
    expect(texts('- first item\n  goes on\n- second item\n1. third item')).toEqual([
      'first item\n  goes on',
      'second item',
      'third item',
    ])
  })

  it('returns nothing for blank text', () => {
    expect(texts(' \n\n ')).toEqual([])
  })

  it('returns slices of the source in order and without overlap', () => {
    const source = fc
      .array(fc.constantFrom('Word', ' ', '. ', '\n', '\n\n', '- ', '# ', 'e.g. ', '```', 'é', '|', '? '))
      .map((parts) => parts.join(''))

    fc.assert(
      fc.property(source, (text) => {
        let end = 0
        for (const sentence of splitSentences(text)) {
          expect(text.slice(sentence.start, sentence.start + sentence.text.length)).toBe(sentence.text)
          expect(sentence.start).toBeGreaterThanOrEqual(end)
          end = sentence.start + sentence.text.length
        }
      }),
    )
  })
})
