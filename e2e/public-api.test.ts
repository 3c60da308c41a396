import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { apiReports, entryPoints, packageApis, withEntryPoints } from '../tooling/derive/entry-points.ts'
import { publicApi } from '../tooling/derive/public-api.ts'
import { removeFolder } from './perdure-process.ts'

const root = join(import.meta.dirname, '..')
const entries = entryPoints() ?? []
const reports = apiReports([...entries, ...packageApis()])

/** Entry points and the modules that they import, by file. */
const PLANTED: Readonly<Record<string, readonly string[]>> = {
  values: ['/** One. */', 'export declare const one: 1', 'export interface Two {', '  /** b */', '  b: string', '}'],
  leaking: [`import type { Inside } from './inside.ts'`, 'export declare function use(inside: Inside): Promise<void>'],
  result: [`import type { toResource } from './inside.ts'`, 'export type Resource = ReturnType<typeof toResource>'],
  hidden: [
    `import type { Inside, Computed, table } from './inside.ts'`,
    'type Private = Inside[]',
    'export type Shown = Private | Computed<string>',
    `export type Picked = Pick<Inside, 'a'> | typeof table`,
    'export {}',
  ],
  inside: [
    'export interface Inside { a: string }',
    'export interface Deep { b: string }',
    'export type Computed<T extends Inside> = T extends string ? Deep : never',
    'export declare const table: Inside',
    'export declare function toResource(): { links: Deep }',
  ],
}

/** What the planted entry points export, by name. */
function plantedApi() {
  const dir = mkdtempSync(join(tmpdir(), 'perdure-api-'))
  onTestFinished(() => removeFolder(dir))
  const files = Object.entries(PLANTED).map(([name, lines]) => {
    const file = join(dir, `${name}.d.ts`)
    writeFileSync(file, `${lines.join('\n')}\n`)
    return [name, file] as const
  })
  const entries = Object.fromEntries(files.filter(([name]) => name !== 'inside'))
  return Object.fromEntries(
    publicApi(entries).flatMap(({ exports }) => exports.map(({ name, ...rest }) => [name, rest])),
  )
}

describe('the entry points of perdure and of its packages', () => {
  it.each(Object.entries(reports))('export what the report says: %s', (name, text) => {
    const path = join(root, 'etc', name)

    expect(existsSync(path) ? readFileSync(path, 'utf8') : '', 'run pnpm derive').toBe(text)
  })

  it('have no other report', () => {
    const found = readdirSync(join(root, 'etc')).filter((name) => name.endsWith('.md'))
    expect(found.toSorted()).toEqual(Object.keys(reports).toSorted())
  })

  it('are listed in ARCHITECTURE.md', () => {
    const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')

    expect(withEntryPoints(text, entries), 'run pnpm derive').toBe(text)
  })

  it('export every type that their exports mention', () => {
    const leaks = entries.flatMap(({ specifier, exports }) =>
      exports.flatMap(({ name, leaks }) => leaks.map((leak) => `${specifier}: ${name} mentions ${leak}`)),
    )

    expect(leaks).toEqual([])
    expect(entries.flatMap(({ exports }) => exports).length).toBeGreaterThan(100)
  })
})

describe('publicApi', () => {
  it('returns declarations without comments, and the types in them that are not exported', () => {
    expect(plantedApi()).toEqual({
      one: { isValue: true, text: 'export declare const one: 1;', leaks: [] },
      Two: { isValue: false, text: 'export interface Two {\n    b: string;\n}', leaks: [] },
      use: { isValue: true, text: expect.stringContaining('function use(inside: Inside)'), leaks: ['Inside'] },
      // Follows the result of a function, and an alias that nobody can name.
      Resource: { isValue: false, text: expect.stringContaining('links: Deep'), leaks: ['Deep'] },
      Shown: { isValue: false, text: 'export type Shown = Private | Computed<string>;', leaks: ['Deep', 'Inside'] },
      // Not what `typeof` and `Pick` take from.
      Picked: { isValue: false, text: expect.stringContaining('Pick<Inside'), leaks: [] },
    })
  })
})
