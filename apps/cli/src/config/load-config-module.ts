import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { StartError } from '@berth/ports'
import { isPlainObject } from '@berth/protocol'

export type PlainObject = Readonly<Record<string, unknown>>

/** The object a configuration file stands for: its JSON, or the default export of the module. */
export async function loadConfigModule(path: string): Promise<PlainObject> {
  const value = extname(path) === '.json' ? await readJson(path) : await importDefault(path)
  if (isPlainObject(value)) return value
  throw new StartError('config-invalid', {
    message: `${path} has no object as its default export`,
    hint: 'write: export default { server: { port: 8080 }, agents: [] }',
  })
}

async function importDefault(path: string): Promise<unknown> {
  const url = pathToFileURL(path).href
  try {
    return ((await import(/* @vite-ignore */ url)) as { default?: unknown }).default
  } catch (error) {
    throw unreadable(path, error, `fix the module${placeOf(error, path)}`)
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

/** ` at line 7`, when the stack knows where in this module it went wrong. */
function placeOf(error: unknown, path: string): string {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const place = [pathToFileURL(path).href, path].find((name) => stack.includes(`${name}:`))
  const line = place && /^\d+/.exec(stack.slice(stack.indexOf(place) + place.length + 1))?.[0]
  return line ? ` at line ${line}` : ''
}
