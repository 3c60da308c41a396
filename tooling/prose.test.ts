import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FORMER_NAME, PROSE_RULES } from './prose-rules.ts'
import { type ProseText, proseOf } from './prose-texts.ts'

const root = join(import.meta.dirname, '..')
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(root, path)))

const isProse = (path: string) =>
  /\.(?:md|[cm]?[jt]s)$/.test(path) &&
  !/CHANGELOG\.md$|prose-rules\.ts$|prose\.test\.ts$|protocol-tables\.ts$/.test(path)

/** `file:line: "wording"; write …` for every rule that the text breaks. */
function findingsIn({ path, line, text, isHeading }: ProseText): readonly string[] {
  return PROSE_RULES.flatMap(({ pattern, instead, isAboutSentences = false }) => {
    const found = isHeading && isAboutSentences ? null : pattern.exec(text)
    if (found === null) return []
    const shown = text.slice(Math.max(0, found.index - 30), found.index + found[0].length + 30).trim()
    return [`${path}:${line}: "${found[0].trim()}" in "…${shown}…"; write: ${instead}`]
  })
}

describe('the prose of the repository', () => {
  it('contains no discouraged wording', () => {
    const texts = files.filter(isProse).flatMap((path) => proseOf(join(root, path)).map((text) => ({ ...text, path })))

    expect(texts.length).toBeGreaterThan(10_000)
    expect([...new Set(texts.flatMap(findingsIn))]).toEqual([])
  })

  it('contains the former product name only in the decision that replaced it', () => {
    const isText = (content: Buffer) => !content.subarray(0, 8_000).includes(0)
    const naming = files
      .filter((path) => !path.startsWith('docs/adr/0072'))
      .flatMap((path) => {
        const content = readFileSync(join(root, path))
        if (FORMER_NAME.test(path)) return [path]
        return isText(content) && FORMER_NAME.test(content.toString()) ? [path] : []
      })

    expect(naming).toEqual([])
  })
})

describe('PROSE_RULES', () => {
  it.each(PROSE_RULES)('finds "$matches" and allows "$allows"', ({ pattern, matches, allows }) => {
    expect(matches).toMatch(pattern)
    expect(PROSE_RULES.filter((rule) => rule.pattern.test(allows))).toEqual([])
  })
})

describe('proseOf', () => {
  it('returns paragraphs, list items and table cells of Markdown without code', () => {
    const markdown = '# T\n\nOne\ntwo `a b`.\n- x\n  y\n- z\n\n```sh\nanew\n```\n\n| A | B |\n|---|---|\n| c d | e |\n'

    const texts = proseOf('a.md', markdown)

    expect(texts.map(({ line, text }) => `${line} ${text}`)).toEqual([
      '1 T',
      '3 One two x.',
      '5 x y',
      '7 z',
      ...['13 A', '13 B', '15 c d', '15 e'],
    ])
  })

  it('returns comments, titles, log messages and descriptions of a module, but no other strings', () => {
    const source = [
      '// one',
      '// two',
      "const url = 'http://x' // three",
      '/** Four `five`. */',
      "it.each([1])('six %s', () => logger.info(`seven`, 'eight'))",
      "const row = { summary: 'nine ' + 'ten', path: 'eleven' }",
    ].join('\n')

    const texts = proseOf('a.ts', source)

    expect(texts.map(({ line, text }) => `${line} ${text}`).toSorted()).toEqual(
      ['1 one two', '3 three', '4 Four x.', '5 six %s', '5 seven', '5 eight', '6 nine ten'].toSorted(),
    )
  })
})
