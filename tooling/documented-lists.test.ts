import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as protocol from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { interfaceMembers } from './derive/interface-members.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** The names that a module exports as values, without its types. */
const exportedValues = (path: string): readonly string[] =>
  [...read(path).matchAll(/^export \{(?<names>[^}]*)\}/gm)]
    .flatMap(({ groups }) => groups?.names?.split(',') ?? [])
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '))

/** The first cells of the rows below a table's header. */
function firstColumn(markdown: string, header: string): readonly string[] {
  const [, rows = ''] = markdown.split(`\n| ${header}`, 2)
  const [table = ''] = rows.split('\n\n', 1)
  return [...table.matchAll(/^\| (?<cell>[^|-][^|]*) \|/gm)].map(({ groups }) => groups?.cell ?? '')
}

describe('a list in a README', () => {
  it.each([
    ['platform-node', ['index']],
    ['server-app', ['index', 'admin', 'providers', 'testing']],
  ])('names every value that %s exports', (name, entries) => {
    const readme = read(`packages/${name}/README.md`)
    const values = entries.flatMap((entry) => exportedValues(`packages/${name}/src/${entry}.ts`))

    expect(values.length).toBeGreaterThan(10)
    expect(values.filter((value) => !new RegExp(`\`${value}\\b`).test(readme))).toEqual([])
  })

  it('names only tables that protocol exports', () => {
    const named = read('packages/protocol/README.md').match(/(?<=`)[A-Z][A-Z_]+(?=`)/g) ?? []

    expect(named).toContain('OPERATIONS')
    expect(named.filter((name) => !(name in protocol))).toEqual([])
  })

  it.each(readdirSync(join(root, 'packages')))('names only source files and folders that %s has', (name) => {
    const folder = join(root, 'packages', name)
    const sources = readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
    const named = read(`packages/${name}/README.md`).match(/(?<=`)[\w./-]+(?:\.ts|\/)(?=`)/g) ?? []
    const isThere = (path: string) =>
      [root, folder, join(folder, 'src')].some((base) => existsSync(join(base, path))) ||
      sources.some((source) => source.endsWith(`/${path.replace(/\/$/, '')}`))

    expect(named.filter((path) => path !== 'perdure.config.ts' && !isThere(path))).toEqual([])
  })

  it('names every folder of core', () => {
    const readme = read('packages/core/README.md')
    const sources = readdirSync(join(root, 'packages/core/src'), { recursive: true, encoding: 'utf8' })
    const code = sources.filter((path) => path.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(path))
    const folders = new Set(code.filter((path) => path.includes('/')).map((path) => path.split('/', 1)[0]))

    expect(folders.size).toBeGreaterThan(10)
    expect([...folders].filter((folder) => !readme.includes(`\`${folder}/\``))).toEqual([])
  })
})

describe('a list in a guide or README', () => {
  it.each([
    ['RunSession', 'packages/core/src/sessions/run-session.ts', 'docs/guides/sessions.md'],
    ['RunMemory', 'packages/core/src/memory/run-memory.ts', 'docs/guides/memory.md'],
    ['TestRun', 'packages/server-app/src/testing/run-agent.ts', 'docs/guides/testing-agents.md'],
    ['SqliteStorageOptions', 'packages/sqlite/src/open-sqlite-storage.ts', 'packages/sqlite/README.md'],
    ['PostgresStorageOptions', 'packages/postgres/src/postgres-storage-options.ts', 'packages/postgres/README.md'],
  ])('names every member of %s', (name, source, page) => {
    const members = interfaceMembers(source, name).map(({ signature }) => /^\w+/.exec(signature)?.[0] ?? '')
    const text = read(page)

    expect(members.length).toBeGreaterThan(0)
    expect(members.filter((member) => !new RegExp(`\`(?:session\\.)?${member}\\b`).test(text))).toEqual([])
  })
})

describe('the table of promises', () => {
  const [, table = ''] =
    /^\| Promise \| Tested in \|\n\|---\|---\|\n((?:\|.*\n)+)/m.exec(read('docs/guides/promises.md')) ?? []
  const rows = table.trimEnd().split('\n')
  const testsOf = (row: string) => (row.split(' | ').at(-1) ?? '').match(/(?<=`)[\w-]+[\w./-]*\/[\w./-]*(?=`)/g) ?? []

  it('names the tests of each promise', () => {
    expect(rows.length).toBeGreaterThan(20)
    expect(rows.filter((row) => testsOf(row).length === 0)).toEqual([])
  })

  it('names only existing tests', () => {
    expect(rows.flatMap(testsOf).filter((path) => !existsSync(join(root, path)))).toEqual([])
  })
})

describe('a list in a guide', () => {
  it('names every trigger kind', () => {
    const kinds = firstColumn(read('docs/guides/triggers.md'), 'Kind |').map((cell) => cell.replaceAll('`', ''))

    expect(kinds).toEqual(protocol.Trigger.entries.kind.options)
  })

  it('names every WebSocket close code', () => {
    const cells = firstColumn(read('docs/guides/events-as-they-happen.md'), 'Code |')
    const codes = cells.flatMap((cell) => cell.split(', ').map(Number)).filter((code) => code >= 4_000)

    expect(codes).toEqual(Object.values(protocol.CLOSE_CODES).map(({ code }) => code))
  })

  it('names every reason for a failed audit verification', () => {
    const reasons = firstColumn(read('docs/guides/audit.md'), '`reason` |').flatMap(
      (cell) => cell.match(/[\w-]+/g) ?? [],
    )

    const sources = readdirSync(join(root, 'packages/core/src/audit')).filter((name) => !name.includes('.test.'))
    const code = sources.map((name) => read(`packages/core/src/audit/${name}`)).join('\n')
    const returned = new Set(code.match(/(?<=reason: ')[a-z-]+(?=')/g))

    expect(reasons.toSorted()).toEqual([...returned].toSorted())
  })
})
