import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { StartError } from '@perdure/ports'

export const CONFIG_FILES = [
  'perdure.config.ts',
  'perdure.config.js',
  'perdure.config.mjs',
  'perdure.config.json',
] as const

/** The file named by `--config`, or the first of `CONFIG_FILES` in the working directory, if any. */
export function findConfigFile(cwd: string, named: string | undefined): string | undefined {
  if (named === undefined) return CONFIG_FILES.map((name) => resolve(cwd, name)).find((path) => existsSync(path))
  const path = resolve(cwd, named)
  if (existsSync(path)) return path
  throw new StartError('config-invalid', {
    message: `the configuration file ${path} does not exist`,
    hint: 'check --config, or create a project with perdure init',
  })
}
