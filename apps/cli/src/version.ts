import { readFileSync } from 'node:fs'
import { packageFile } from './package-file.ts'

/** Of this package; every `@perdure` package has the same. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as {
    version: string
  }
  return version
}
