import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packages } from '../consumer/packages.ts'
import { codes, table } from './markdown.ts'
import { type EntryApi, publicApi } from './public-api.ts'

const root = join(import.meta.dirname, '../..')
const START = '<!-- entry-points:start -->'
const END = '<!-- entry-points:end -->'

/** The declaration files of the package that authors import, by specifier. */
function declarations(): Readonly<Record<string, string>> {
  const folder = join(root, 'packages/perdure')
  const { name, exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly name: string
    readonly exports: Readonly<Record<string, { readonly types: string }>>
  }
  return Object.fromEntries(
    Object.entries(exports).map(([path, { types }]) => [`${name}${path.slice(1)}`, join(folder, types)]),
  )
}

/** What each entry point exports, from the built declarations; `undefined` before the first build. */
export const entryPoints = (): readonly EntryApi[] | undefined =>
  Object.values(declarations()).every((file) => existsSync(file)) ? publicApi(declarations()) : undefined

/** What the other published packages export, from the built declarations. */
export function packageApis(): readonly EntryApi[] {
  const others = packages.filter(({ manifest }) => manifest.name !== 'perdure')
  const entries = others.flatMap(({ folder, manifest }) =>
    Object.entries(manifest.exports).flatMap(([path, conditions]) => {
      const { types = '' } = conditions as Readonly<Record<string, string>>
      return types.startsWith('./dist/')
        ? [[`${manifest.name}${path.slice(1)}`, join(root, folder, types)] as const]
        : []
    }),
  )
  return publicApi(Object.fromEntries(entries))
}

/** `etc/<name>.api.md` for each entry point: every export with its declaration. */
export const apiReports = (entries: readonly EntryApi[]): Readonly<Record<string, string>> =>
  Object.fromEntries(entries.map((entry) => [reportName(entry), reportOf(entry)]))

const reportName = ({ specifier }: EntryApi): string => `${specifier.replaceAll('/', '.')}.api.md`

const reportOf = ({ specifier, exports }: EntryApi): string =>
  [
    `<!-- Derived by \`pnpm derive\`; not edited by hand. -->\n\n# What \`${specifier}\` exports\n`,
    ...exports.map(({ name, text }) => `## ${name}\n\n\`\`\`ts\n${text}\n\`\`\`\n`),
  ].join('\n')

/**
 * Replaces the table of entry points between the markers; `undefined` when the document lacks a marker or has the markers
 * in the wrong order.
 */
export function withEntryPoints(document: string, entries: readonly EntryApi[]): string | undefined {
  const start = document.indexOf(START)
  const end = document.indexOf(END)
  if (start === -1 || end < start) return undefined
  const rows = entries.map((entry) => {
    const values = entry.exports.filter(({ isValue }) => isValue).map(({ name }) => name)
    const types = entry.exports.length - values.length
    return [codes([entry.specifier]), codes(values), `[${types}](etc/${reportName(entry)})`]
  })
  return `${document.slice(0, start + START.length)}\n${table(['Import', 'Values', 'Types'], rows)}\n${document.slice(end)}`
}
