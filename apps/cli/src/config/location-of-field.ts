import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { LoadedConfig } from './load-config.ts'

type ConfigOrigin = Pick<LoadedConfig, 'configPath' | 'overrides' | 'flagged' | 'cwd'>

/**
 * Where a field is set: `flag --port`, `PERDURE_SERVER_PORT` or `perdure.config.ts:7`. Only the file name if the line
 * is unknown; `undefined` without a file.
 */
export function locationOfField(
  { configPath, overrides, flagged, cwd }: ConfigOrigin,
  field: string,
): string | undefined {
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
 * Guesses the line of a field from the text of the file. For `server.port`, finds the first line with `server`, and
 * from there the first line with `port`. If `port` does not occur, returns the line of `server`. The guess can be wrong
 * for a module that computes its object.
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
