import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const EXTENSIONS = ['.ts', '.mts', '.js', '.mjs', '.json'] as const

/**
 * Returns a hint for an import that failed: install the package, or write the extension of the file. `undefined` for
 * other errors.
 */
export function importHint(error: unknown, nameOf: (file: string) => string): string | undefined {
  if (!(error instanceof Error) || (error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') return undefined
  const [, missing, importer] =
    /^Cannot find (?:package|module) '([^']+)' imported from (.+)$/.exec(error.message) ?? []
  if (missing === undefined || importer === undefined) return undefined
  const file = importer.startsWith('file:') ? fileURLToPath(importer) : importer
  if (!error.message.startsWith('Cannot find package')) return extensionHint(missing, file, nameOf)
  const [name, ...rest] = missing.split('/')
  const packageName = name?.startsWith('@') ? `${name}/${rest[0] ?? ''}` : name
  return `npm install ${packageName} (imported by ${placeOf(file, `'${missing}`, nameOf)})`
}

function extensionHint(missing: string, importer: string, nameOf: (file: string) => string): string | undefined {
  const base = missing.slice(missing.lastIndexOf('/') + 1)
  const place = () => placeOf(importer, base, nameOf)
  if (/\.m?js$/.test(missing) && existsSync(missing.replace(/js$/, 'ts'))) {
    return `write the extension of the source, because Node.js runs it as it is: …/${base.replace(/js$/, 'ts')} (in ${place()}); set allowImportingTsExtensions for tsc`
  }
  const extension = EXTENSIONS.find((one) => existsSync(`${missing}${one}`))
  return extension === undefined ? undefined : `write the extension: …/${base}${extension} (in ${place()})`
}

/** The file and the first line that contains the text. */
function placeOf(file: string, text: string, nameOf: (file: string) => string): string {
  const quoted = text.startsWith("'") ? [text, text.replace("'", '"')] : [text]
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  const at = lines.findIndex((line) => /\bimport\b|\bfrom\b/.test(line) && quoted.some((one) => line.includes(one)))
  return at < 0 ? nameOf(file) : `${nameOf(file)}:${at + 1}`
}
