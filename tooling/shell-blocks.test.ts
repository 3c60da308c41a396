import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { guideBlocks } from '../e2e/guide-blocks.ts'
import { commandsIn, scriptsOf } from '../e2e/guide-tools.ts'
import { TOOLS } from './machine-tools.ts'

const root = join(import.meta.dirname, '..')
const guides = readdirSync(join(root, 'docs/guides')).filter((name) => name.endsWith('.md'))
const documents = ['README.md', ...guides.map((name) => `docs/guides/${name}`)]

const SHELL = 'break case cd continue disown do done echo elif else esac exit export fi for function if kill'
  .concat(' printf read return set shift source test then trap true false unset until wait while')
  .split(' ')
const COREUTILS =
  'cat chmod cp cut date grep head ln ls mkdir mktemp mv rm sed seq sleep sort tail tee touch tr uniq wc'.split(' ')
/** Packages that a guide installs, and Node.js. */
const INSTALLED = ['node', 'npm', 'npx', 'perdure', 'tsc', 'vitest']

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

  it('use only programs that every machine has, that the guide installs, or that the table of tools names', () => {
    const known = new Set([...SHELL, ...COREUTILS, ...INSTALLED, ...Object.keys(TOOLS)])
    const unknown = documents.flatMap((path) => {
      const scripts = scriptsOf(guideBlocks(readFileSync(join(root, path), 'utf8')))
      const functions = new Set(
        scripts.flatMap((script) => [...script.matchAll(/^(\w+)\(\)/gm)].map(([, name]) => name)),
      )
      const words = scripts.flatMap(commandsIn).filter((word) => !known.has(word) && !functions.has(word))
      return [...new Set(words)].map((word) => `${path}: ${word}`)
    })

    expect(unknown).toEqual([])
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
