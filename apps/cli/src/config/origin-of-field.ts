import { relative } from 'node:path'
import type { LoadedConfig } from './load-config.ts'
import { locationOfField } from './location-of-field.ts'
import { memberAt } from './member-at.ts'

/** Where a value is set: `flag --port`, `PERDURE_SERVER_PORT`, `perdure.config.mjs:3` or `default`. */
export function originOfField(path: string, loaded: LoadedConfig): string {
  if (memberAt(loaded.input, path) === undefined) return 'default'
  return locationOfField(loaded, path) ?? relative(loaded.cwd, loaded.configPath ?? '')
}
