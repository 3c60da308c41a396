/** Prints the test files that import the table of tools, directly or through other files, for `.ci/run-without-tools`. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const root = join(import.meta.dirname, '..')
const TABLE = join(root, 'tooling/machine-tools.ts')
const IMPORT = /(?:\bfrom|\bimport|import\()\s*'(?<path>\.[^']+\.ts)'/g

const tests = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--', '*.test.ts'], {
  cwd: root,
  encoding: 'utf8',
}).split('\n')

const reaching = new Map([[TABLE, true]])

/** The product imports no test code, so the search stays out of it. */
const isProduct = (path: string) => /\/src\/.*(?<!\.test|\.fixture)\.ts$/.test(path)

function reachesTable(path: string): boolean {
  const known = reaching.get(path)
  if (known !== undefined) return known
  reaching.set(path, false)
  if (isProduct(path) || !existsSync(path)) return false
  const imported = [...readFileSync(path, 'utf8').matchAll(IMPORT)].map(({ groups }) =>
    join(dirname(path), groups?.path ?? ''),
  )
  const reaches = imported.some(reachesTable)
  reaching.set(path, reaches)
  return reaches
}

const found = tests.map((path) => join(root, path)).filter((path) => path.endsWith('.test.ts') && reachesTable(path))
process.stdout.write(found.map((path) => `${relative(root, path)}\n`).join(''))
