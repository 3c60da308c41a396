import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isPlainObject } from '@perdure/protocol'
import { shellWord } from './doctor/shell-word.ts'
import { packageFile } from './package-file.ts'
import type { Terminal } from './terminal.ts'

type Place = Pick<Terminal, 'env' | 'cwd'>

/** How the user calls this command line in another terminal, in the same folder: `perdure`, or a longer form of it. */
export function perdureCommand(place: Place): string {
  if (isOnPath(place.env)) return 'perdure'
  if (hasScript(place.cwd)) return 'npm run perdure --'
  if (existsSync(join(place.cwd, LOCAL))) return LOCAL
  return `node ${shellWord(fileURLToPath(packageFile('bin/perdure.js')))}`
}

const LOCAL = 'node_modules/.bin/perdure'

/**
 * Whether `perdure` is on the PATH of the user's terminal. A package manager adds `node_modules/.bin` for the scripts
 * that it runs, and another terminal does not have these entries.
 */
function isOnPath({ PATH = '', npm_execpath, npm_lifecycle_event }: Place['env']): boolean {
  const isInScript = npm_execpath !== undefined || npm_lifecycle_event !== undefined
  const folders = PATH.split(delimiter).filter((folder) => folder !== '' && !(isInScript && isLocal(folder)))
  return folders.some((folder) => existsSync(join(folder, 'perdure')))
}

const isLocal = (folder: string): boolean => /[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder)

function hasScript(cwd: string): boolean {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8'))
    return isPlainObject(manifest) && isPlainObject(manifest.scripts) && manifest.scripts.perdure === 'perdure'
  } catch {
    return false
  }
}
