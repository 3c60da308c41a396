import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'docs', 'adr')
const MOST_RECORDS = 80

interface Adr {
  readonly file: string
  readonly number: string
  readonly title: string
  readonly status: string
  readonly text: string
}

interface IndexLine {
  readonly number: string
  readonly file: string
  readonly title: string
}

/** A record that was removed, and the file that has its content. */
interface Removal {
  readonly number: string
  readonly path: string
}

function readAdr(file: string): Adr {
  const text = readFileSync(join(folder, file), 'utf8')
  const [, number = '', title = '', status = ''] = /^# (\d{4})\. (.+)\n\nStatus: (.+)\n/.exec(text) ?? []
  return { file, number, title, status, text }
}

const adrs = readdirSync(folder)
  .filter((file) => file.endsWith('.md') && file !== 'README.md')
  .map(readAdr)
const files = new Set(adrs.map(({ file }) => file))
const numbers = new Set(adrs.map(({ number }) => number))

const rows = readFileSync(join(folder, 'README.md'), 'utf8').split('\n')

const lines: readonly IndexLine[] = rows.flatMap((row) => {
  const [, number, file, title] = /^\| \[(\d{4})\]\(([^)]+)\) \| (.+) \| (.+) \|$/.exec(row) ?? []
  return number === undefined ? [] : [{ number, file, title } as IndexLine]
})

const removals: readonly Removal[] = rows.flatMap((row) => {
  const [, removed = '', path = ''] = /^\| (\d{4}(?:, \d{4})*) \| \[[^\]]+\]\(([^)]+)\) \|$/.exec(row) ?? []
  return removed === '' ? [] : removed.split(', ').map((number) => ({ number, path }))
})

const slugOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll("'", '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')

const repeated = (values: readonly string[]): readonly string[] =>
  values.filter((value, index) => values.indexOf(value) !== index)

const LINK = /\]\((?:[./]*adr\/)?(\d{4}-[^)#]+\.md)\)/g
/** A record named without a link, such as ADR 0007. */
const NAMED = /\bADR (\d{3,4})\b/g

/** Links to records that do not exist, and numbers of records that do not exist. */
const brokenIn = (text: string): readonly string[] => [
  ...[...text.matchAll(LINK)].map(([, file = '']) => file).filter((file) => !files.has(file)),
  ...[...text.matchAll(NAMED)].map(([, number = '']) => number.padStart(4, '0')).filter((it) => !numbers.has(it)),
]

describe('an architecture decision record', () => {
  it('starts with its number, a title and a status, and is named after its title', () => {
    const expected = adrs.map(({ number, title }) => `${number}-${slugOf(title)}.md`)

    expect(adrs.length).toBeGreaterThan(60)
    expect(adrs.map(({ file }) => file)).toEqual(expected)
    expect(numbers.size).toBe(adrs.length)
  })

  it('is in force', () => {
    expect(adrs.filter(({ status }) => status !== 'accepted').map(({ file }) => file)).toEqual([])
  })

  it('gives the context, the decision and the consequences', () => {
    const lacking = adrs.filter(
      ({ text }) => !/^(?:## Decision|\*\*Decision\.\*\*)/m.test(text) || !text.includes('Consequences'),
    )

    expect(lacking.map(({ file }) => file)).toEqual([])
  })

  it('is listed once in the index, with its title', () => {
    const expected = adrs.map(({ number, file, title }) => ({ number, file, title }))

    expect(lines.toSorted((a, b) => a.file.localeCompare(b.file))).toEqual(expected)
  })

  it(`is one of at most ${MOST_RECORDS}`, () => {
    expect(adrs.length).toBeLessThanOrEqual(MOST_RECORDS)
  })

  it('names only records that exist', () => {
    expect(adrs.flatMap(({ file, text }) => brokenIn(text).map((target) => `${file}: ${target}`))).toEqual([])
  })
})

describe('a document outside of docs/adr', () => {
  it('names only records that exist', () => {
    const documents = execFileSync('git', ['grep', '-lE', 'ADR [0-9]{3,4}|adr/[0-9]{4}', '--', ':!docs/adr'], {
      cwd: root,
    })
      .toString()
      .split('\n')
      .filter((path) => path !== '' && path !== 'tooling/adr-index.test.ts' && !path.endsWith('CHANGELOG.md'))
    const broken = documents.flatMap((path) =>
      brokenIn(readFileSync(join(root, path), 'utf8')).map((target) => `${path}: ${target}`),
    )

    expect(documents.length).toBeGreaterThan(2)
    expect(broken).toEqual([])
  })
})

describe('a removed record', () => {
  it('is listed once, and its number is not used again', () => {
    const removed = removals.map(({ number }) => number)

    expect(removed.length).toBeGreaterThan(90)
    expect(repeated(removed)).toEqual([])
    expect(removed.filter((number) => numbers.has(number))).toEqual([])
  })

  it('names a record or a file that exists', () => {
    const missing = removals.filter(({ path }) => !existsSync(join(folder, path)))

    expect(missing).toEqual([])
  })
})
