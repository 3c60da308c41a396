import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const MAX_FOLDER_LINES = 40
const MAX_PACKAGE_LINES = 60

const readmesOf = (pattern: string) =>
  globSync(pattern, { cwd: root }).map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

const linesOf = (text: string): number => text.trimEnd().split('\n').length

/**
 * Folders to search for a name: the folder of the README and, for a name with a path, also `src`, the package,
 * `packages` and the root.
 */
function basesOf(readme: string, name: string): readonly string[] {
  const folder = dirname(readme)
  if (!name.includes('/')) return [folder]
  const packageFolder = folder.split(`${sep}src${sep}`, 1)[0] ?? folder
  return [folder, join(packageFolder, 'src'), packageFolder, 'packages', '.']
}

const missingNames = (readme: string, text: string): readonly string[] =>
  (text.match(/(?<=`)[\w./-]+(?:\.ts|\/)(?=`)/g) ?? []).filter(
    (name) => !basesOf(readme, name).some((base) => existsSync(join(root, base, name))),
  )

describe('the README of a folder', () => {
  const readmes = readmesOf('packages/*/src/**/README.md')

  it('exists for the larger folders of core', () => {
    const folders = readmes.map(({ path }) => dirname(path).split(sep).at(-1))

    expect(folders).toEqual(
      expect.arrayContaining(['engine', 'durable', 'triggers', 'realtime', 'audit', 'memory', 'auth']),
    )
  })

  it.each(readmes)('names only existing files in $path', ({ path, text }) => {
    expect(text).toMatch(/`[\w./-]+\.ts`/)
    expect(missingNames(path, text)).toEqual([])
  })

  it.each(readmes)(`has at most ${MAX_FOLDER_LINES} lines in $path`, ({ text }) => {
    expect(linesOf(text)).toBeLessThanOrEqual(MAX_FOLDER_LINES)
  })
})

describe('the README of a package', () => {
  it.each(readmesOf('packages/*/README.md'))(`has at most ${MAX_PACKAGE_LINES} lines in $path`, ({ text }) => {
    expect(linesOf(text)).toBeLessThanOrEqual(MAX_PACKAGE_LINES)
  })
})
