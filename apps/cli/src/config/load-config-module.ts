import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { StartError } from '@perdure/ports'
import { isPlainObject } from '@perdure/protocol'
import { placeOfError } from './place-of-error.ts'
import { trackImports } from './track-imports.ts'

export type PlainObject = Readonly<Record<string, unknown>>

/** The object a configuration file stands for: its JSON, or the default export of the module. `onImport` hears of it and of what it imports, later too. */
export async function loadConfigModule(path: string, onImport?: (file: string) => void): Promise<PlainObject> {
  onImport?.(path)
  const value = extname(path) === '.json' ? await readJson(path) : await importDefault(path, onImport)
  if (isPlainObject(value)) return value
  throw new StartError('config-invalid', {
    message: `${path} has no object as its default export`,
    hint: 'write: export default { server: { port: 8080 }, agents: [] }',
  })
}

async function importDefault(path: string, onImport: ((file: string) => void) | undefined): Promise<unknown> {
  const url = pathToFileURL(path).href
  const imports = trackImports(path, onImport)
  try {
    return ((await import(/* @vite-ignore */ url)) as { default?: unknown }).default
  } catch (error) {
    const place = placeOfError(error, imports.files())
    throw unreadable(path, error, place === undefined ? 'fix the module' : `fix ${place}`)
  } finally {
    if (onImport === undefined) imports.end()
  }
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    throw unreadable(path, error, 'a .json configuration is strict JSON, without comments or trailing commas')
  }
}

const unreadable = (path: string, cause: unknown, hint: string) =>
  new StartError('config-invalid', {
    message: `${path} cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`,
    hint,
  })
