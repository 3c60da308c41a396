import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { LoadedConfig } from './load-config.ts'

type Place = Pick<LoadedConfig, 'configPath' | 'overrides' | 'flagged' | 'cwd'>

/** `flag --port`, `PERDURE_SERVER_PORT`, or `perdure.config.ts:7`; the file alone when the line cannot be told. `undefined` without either. */
export function placeOfField({ configPath, overrides, flagged, cwd }: Place, field: string): string | undefined {
  if (flagged.includes(field)) return `flag --${field.split('.').at(-1)}`
  const override = overrides.find(({ path }) => path === field)
  if (override !== undefined) return override.variable
  if (configPath === undefined) return undefined
  const line = lineOf(readText(configPath), field.split('.'))
  const name = relative(cwd, configPath) || configPath
  const shown = name.startsWith('..') ? configPath : name
  return line === undefined ? shown : `${shown}:${line}`
}

/**
 * Where the last name of the path stands, below the lines of the names before it; without it, the deepest that is there.
 * A guess by the text: a module may build its object as it likes.
 */
function lineOf(text: string, names: readonly string[]): number | undefined {
  const lines = text.split('\n')
  let found: number | undefined
  let from = 0
  for (const name of names) {
    const pattern = new RegExp(`(?:^|[\\s{,'"])${name}['"]?\\s*:`)
    const at = lines.findIndex((line, index) => index >= from && pattern.test(line))
    if (at < 0) break
    found = at + 1
    from = at
  }
  return found
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
