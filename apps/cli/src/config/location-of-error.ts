import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../package-file.ts'

/** Matches `file:///srv/echo.ts:7:13`, `/srv/echo.ts:7` or `C:\srv\echo.ts:7` at the start of a word. */
const LOCATION = /^(file:\/\/\/.+?|(?:[A-Za-z]:)?[\\/][^:]+):(\d+)/

/** The project file and line an error comes from, such as `/srv/agents/echo.ts:7`; `undefined` if unknown. */
export function locationOfError(error: unknown, files: readonly string[]): string | undefined {
  if (!(error instanceof Error)) return undefined
  return locationIn(error.stack ?? '') ?? (error instanceof SyntaxError ? locationOfSyntaxError(files) : undefined)
}

/** The folder of this package, which is not in `node_modules` when it runs from a clone. */
const OWN_FOLDER = fileURLToPath(packageFile(''))

/** The first location outside `node_modules` and this package. */
function locationIn(text: string): string | undefined {
  for (const word of text.split(/[\s()]/)) {
    const [, name, line] = LOCATION.exec(word) ?? []
    if (name === undefined) continue
    const file = name.startsWith('file:') ? fileURLToPath(name) : name
    if (!file.includes('node_modules') && !file.startsWith(OWN_FOLDER)) return `${file}:${line}`
  }
  return undefined
}

/** A syntax error does not name its module, so each imported file is checked with `node --check`. */
function locationOfSyntaxError(files: readonly string[]): string | undefined {
  for (const file of files) {
    const { status, stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' })
    if (status !== 0) return locationIn(stderr)
  }
  return undefined
}
