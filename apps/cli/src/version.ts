import { readFileSync } from 'node:fs'

/** Of this package; every `@berth` package has the same. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return version
}
