import { readFile } from 'node:fs/promises'
import { dirname, extname, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { StartError } from '@perdure/ports'
import { isPlainObject } from '@perdure/protocol'
import { importHint } from './import-hint.ts'
import { locationOfError } from './location-of-error.ts'
import { trackImports } from './track-imports.ts'

export type PlainObject = Readonly<Record<string, unknown>>

/**
 * Loads a configuration file: its JSON, or the default export of the module. `onImport` is called with the
 * configuration file and with each project file that it imports, including later dynamic imports.
 */
export async function loadConfigModule(path: string, onImport?: (file: string) => void): Promise<PlainObject> {
  onImport?.(path)
  const value = extname(path) === '.json' ? await readJson(path) : await importDefault(path, onImport)
  if (isPlainObject(value)) return value
  throw new StartError('config-invalid', {
    message: `the default export of ${path} is not an object`,
    hint: 'write: export default { server: { port: 8080 }, agents: [] }',
  })
}

async function importDefault(path: string, onImport: ((file: string) => void) | undefined): Promise<unknown> {
  const url = pathToFileURL(path).href
  const imports = trackImports(path, onImport)
  try {
    return ((await import(/* @vite-ignore */ url)) as { default?: unknown }).default
  } catch (error) {
    const nameOf = (file: string) => relative(dirname(path), file)
    const location = locationOfError(error, imports.files())
    const hint = importHint(error, nameOf) ?? (location === undefined ? 'fix the module' : `fix ${location}`)
    throw unreadable(path, error, hint)
  } finally {
    if (onImport === undefined) imports.end()
  }
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    throw unreadable(path, error, 'write strict JSON, without comments or trailing commas')
  }
}

const unreadable = (path: string, cause: unknown, hint: string) =>
  new StartError('config-invalid', {
    message: `cannot load ${path}: ${cause instanceof Error ? cause.message : String(cause)}`,
    hint,
  })
