import { readFileSync } from 'node:fs'
import { packageFile } from './package-file.ts'

/** The version of this package, which is also that of every other `@perdure` package. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as {
    version: string
  }
  return version
}
