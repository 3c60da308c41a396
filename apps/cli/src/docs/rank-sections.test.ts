import { describe, expect, it } from 'vitest'
import { rankSections } from './rank-sections.ts'
import { splitSections } from './split-sections.ts'

const MARKDOWN = `<!-- derived -->

# Approvals

A run asks a person. It waits for the decision.

## Time limits

\`\`\`sh
# no heading
perdure approvals approve last
\`\`\`

An approval without a decision is denied after its timeout.

### perdure approvals show \\<approval>

Shows an [approval](x.md). \`onCrash\` does not apply.
`

const sections = splitSections({ path: 'docs/guides/approvals.md', text: MARKDOWN })
const found = (...words: readonly string[]) => rankSections(sections, words).map(({ section }) => section)

describe('splitSections', () => {
  it('returns each heading with its line and text, and ignores # in code', () => {
    expect(sections.map(({ title, section, line }) => [title, section, line])).toEqual([
      ['Approvals', 'Approvals', 3],
      ['Approvals', 'Time limits', 7],
      ['Approvals', 'perdure approvals show <approval>', 16],
    ])
    expect(sections[1]?.text).toContain('# no heading')
  })

  it('returns nothing for a document without a heading', () => {
    expect(splitSections({ path: 'x.md', text: 'x\n' })).toEqual([])
  })
})

describe('rankSections', () => {
  it('returns the sections that contain every word', () => {
    expect(found('decision', 'timeout')).toEqual(['Time limits'])
  })

  it('returns those with most of the words when no section has all', () => {
    expect(found('decision', 'timeout', 'elephant')).toEqual(['Time limits'])
  })

  it('counts a word in a heading more than in the text', () => {
    const text = '# Guide\n\n## Limits\n\nRetries, retries, retries.\n\n## Retries\n\nNone by default, as always.\n'
    const [first] = rankSections(splitSections({ path: 'x.md', text }), ['retries'])

    expect(first?.section).toBe('Retries')
  })

  it.each([
    ['another form of the word', 'asking', 'Approvals'],
    ['a part of a name in code', 'crash', 'perdure approvals show <approval>'],
    ['a name in code in lower case', 'oncrash', 'perdure approvals show <approval>'],
    ['upper case', 'TIMEOUT', 'Time limits'],
  ])('finds %s', (_, word, section) => {
    expect(found(word)).toEqual([section])
  })

  it('ignores words that every text has, unless there are no others', () => {
    expect(found('how', 'to', 'wait', 'for', 'a', 'person')).toEqual(['Approvals'])
    expect(found('for', 'the')).toEqual(['Approvals'])
  })

  it('returns nothing for words that no section contains, and for none', () => {
    expect(found('elephant')).toEqual([])
    expect(found('…')).toEqual([])
    expect(found()).toEqual([])
  })
})
