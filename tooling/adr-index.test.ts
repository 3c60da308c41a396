import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const folder = join(import.meta.dirname, '..', 'docs', 'adr')
const STATUS = /^(?:accepted|deprecated|(superseded|amended) by (\d{4}))$/
/** The word before the link from a record to the record that it changes. */
const LINK_BACK: Readonly<Record<string, string>> = { superseded: 'Supersedes', amended: 'Amends' }

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
  readonly status: string
}

function readAdr(file: string): Adr {
  const text = readFileSync(join(folder, file), 'utf8')
  const [, number = '', title = '', status = ''] = /^# (\d{4})\. (.+)\n\nStatus: (.+)\n/.exec(text) ?? []
  return { file, number, title, status, text }
}

const adrs = readdirSync(folder)
  .filter((file) => file.endsWith('.md') && file !== 'README.md')
  .map(readAdr)
const byNumber = new Map(adrs.map((adr) => [adr.number, adr]))

const lines: readonly IndexLine[] = readFileSync(join(folder, 'README.md'), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, number, file, title, status] = /^\| \[(\d{4})\]\(([^)]+)\) \| (.+) \| (.+) \|$/.exec(line) ?? []
    return number === undefined ? [] : [{ number, file, title, status } as IndexLine]
  })

const slugOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll("'", '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')

/** Checks that the status is valid and that the record it names links back. */
function statusProblems({ file, number, status }: Adr): readonly string[] {
  const match = STATUS.exec(status)
  if (match === null) return [`${file}: the status "${status}" is not one of the list`]
  const [, verb, target] = match
  if (verb === undefined || target === undefined) return []
  const changing = byNumber.get(target)
  if (changing === undefined) return [`${file}: ADR ${target} does not exist`]
  return changing.text.includes(`${LINK_BACK[verb]} [${number}](${file})`)
    ? []
    : [`${changing.file}: does not say "${LINK_BACK[verb]} [${number}](${file})"`]
}

/** Checks that every record which this record amends or supersedes names this record in its status. */
function unansweredLinks({ file, number, text }: Adr): readonly string[] {
  const links = [...text.matchAll(/^(Amends|Supersedes) \[(\d{4})\]/gm)]
  return links.flatMap(([, verb = '', target = '']) => {
    const expected = `${verb === 'Amends' ? 'amended' : 'superseded'} by ${number}`
    const status = byNumber.get(target)?.status
    return status === expected ? [] : [`${file}: the status of ADR ${target} is "${status}", not "${expected}"`]
  })
}

const LINK = /\]\((\d{4}-[^)#]+\.md)\)/g

describe('an architecture decision record', () => {
  it('starts with its number, a title and a status, and is named after its title', () => {
    const expected = adrs.map(({ number, title }) => `${number}-${slugOf(title)}.md`)

    expect(adrs.length).toBeGreaterThan(60)
    expect(adrs.map(({ file }) => file)).toEqual(expected)
    expect(byNumber.size).toBe(adrs.length)
  })

  it('has a valid status, and the record that its status names links back', () => {
    expect(adrs.flatMap(statusProblems)).toEqual([])
  })

  it('is named in the status of every record that it amends or supersedes', () => {
    expect(adrs.flatMap(unansweredLinks)).toEqual([])
  })

  it('is listed once in the index, with its title and status', () => {
    const expected = adrs.map(({ number, file, title, status }) => ({ number, file, title, status }))

    expect(lines.toSorted((a, b) => a.file.localeCompare(b.file))).toEqual(expected)
  })

  it('links only to records that exist', () => {
    const files = new Set(adrs.map(({ file }) => file))
    const broken = adrs.flatMap(({ file, text }) =>
      [...text.matchAll(LINK)].flatMap(([, to = '']) => (files.has(to) ? [] : [`${file}: ${to}`])),
    )

    expect(broken).toEqual([])
  })
})
