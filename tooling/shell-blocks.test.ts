import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { guideBlocks } from '../e2e/guide-blocks.ts'

const root = join(import.meta.dirname, '..')
const guides = readdirSync(join(root, 'docs/guides')).filter((name) => name.endsWith('.md'))
const documents = ['README.md', ...guides.map((name) => `docs/guides/${name}`)]

/** Lines that bash accepts and zsh, the default shell of macOS, refuses at its prompt: comments, and `?` outside quotes. */
function refusedByZsh(path: string, markdown: string): readonly string[] {
  return guideBlocks(markdown)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text, line }) =>
      withoutQuoted(text)
        .split('\n')
        .flatMap((code, index) =>
          /(?:^|\s)#(?:\s|$)|(?<!\$)\?/.test(code) ? [`${path}:${line + index}: ${code}`] : [],
        ),
    )
}

const withoutQuoted = (text: string) =>
  text.replace(/'[^']*'|"[^"]*"/g, (quoted) => `''${'\n'.repeat(quoted.split('\n').length - 1)}`)

describe('the shell blocks of README and the guides', () => {
  it('can be pasted into zsh', () => {
    expect(documents.flatMap((path) => refusedByZsh(path, readFileSync(join(root, path), 'utf8')))).toEqual([])
  })
})

describe('refusedByZsh', () => {
  it.each([
    ['call $API/runs?limit=1', 'a query outside quotes'],
    ['npm start   # builds', 'a comment'],
    ['# a comment', 'a line that is a comment'],
  ])('finds %s: %s', (code) => {
    expect(refusedByZsh('a.md', `\`\`\`sh\necho 'one\ntwo'\n${code}\n\`\`\`\n`)).toEqual([`a.md:4: ${code}`])
  })

  it('accepts both inside quotes', () => {
    expect(refusedByZsh('a.md', '```sh\ncall "$API/runs?limit=1" -d \'{"a": "b # c?"}\'; echo $?\n```\n')).toEqual([])
  })
})
