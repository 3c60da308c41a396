import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** At the front of a word: `file:///srv/echo.ts:7:13`, `/srv/echo.ts:7`, `C:\srv\echo.ts:7`. */
const PLACE = /^(file:\/\/\/.+?|(?:[A-Za-z]:)?[\\/][^:]+):(\d+)/

/** `/srv/agents/echo.ts:7`: where in the files of a project an error comes from; `undefined` when that cannot be told. */
export function placeOfError(error: unknown, files: readonly string[]): string | undefined {
  if (!(error instanceof Error)) return undefined
  return placeIn(error.stack ?? '') ?? (error instanceof SyntaxError ? placeOfSyntaxError(files) : undefined)
}

/** The first one outside of packages. */
function placeIn(text: string): string | undefined {
  for (const word of text.split(/[\s()]/)) {
    const [, name, line] = PLACE.exec(word) ?? []
    if (name === undefined) continue
    const file = name.startsWith('file:') ? fileURLToPath(name) : name
    if (!file.includes('node_modules')) return `${file}:${line}`
  }
  return undefined
}

/** The error itself does not say which of the imported modules cannot be parsed: another process is asked. */
function placeOfSyntaxError(files: readonly string[]): string | undefined {
  for (const file of files) {
    const { status, stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' })
    if (status !== 0) return placeIn(stderr)
  }
  return undefined
}
