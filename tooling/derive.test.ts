import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  configFields,
  ERRORS,
  EVENTS,
  METRICS,
  OPERATIONS,
  type Operation,
  protocolOf,
  SCOPES,
  SUBJECTS,
} from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { clientTables } from './derive/client-tables.ts'
import { interfaceMembers, membersOf } from './derive/interface-members.ts'
import { layers, withLayerTable } from './derive/layer-table.ts'
import { guides, llmsText } from './derive/llms.ts'
import { table } from './derive/markdown.ts'
import { deprecatedIn } from './derive/pages/stability.ts'
import { deriveReference } from './derive/reference.ts'
import { firstSentence } from './documents/first-sentence.ts'

const root = join(import.meta.dirname, '..')
const reference = join(root, 'docs/reference')
const architecture = join(root, 'ARCHITECTURE.md')
const pages = deriveReference()

describe('docs/reference', () => {
  it.each(Object.entries(pages))('contains an up-to-date %s', (name, text) => {
    expect(readFileSync(join(reference, name), 'utf8')).toBe(text)
  })

  it('contains no other page', () => {
    expect(readdirSync(reference).toSorted()).toEqual(Object.keys(pages).toSorted())
  })

  it('is derived deterministically', () => {
    expect(deriveReference()).toEqual(pages)
  })
})

describe('clientTables', () => {
  it('returns the text of protocol-tables.ts in the client', () => {
    expect(readFileSync(join(root, 'packages/client/src/protocol-tables.ts'), 'utf8')).toBe(clientTables())
  })

  it('contains every operation except pure event streams and other protocols', () => {
    const text = clientTables()
    const isCallable = (operation: Operation) =>
      protocolOf(operation) === undefined && !['realtime.open-ws', 'sessions.events'].includes(operation.id)

    for (const { id, path } of OPERATIONS.filter(isCallable)) {
      expect(text, id).toContain(`path: '${path}'`)
    }
    expect(text).not.toContain("path: '/ws'")
  })
})

describe('interfaceMembers', () => {
  it('returns each member with its signature and its documentation', () => {
    const body = `
  readonly plain: string
  readonly maxMs?: number // 200 when missing
  /** One line. */
  readonly told?: 'a' | 'b'
  /**
   * Two
   * lines.
   *
   * @throws PerdureError \`step-failed\`
   */
  call(
    name: string,
    options?: { readonly limit?: number },
  ): Promise<readonly string[]>
  readonly nested: {
    /** Not said of the member. */
    run(): void
  }
`
    expect(membersOf(body)).toEqual([
      { signature: 'plain: string', description: '' },
      { signature: 'maxMs?: number', description: '200 when missing' },
      { signature: "told?: 'a' | 'b'", description: 'One line.' },
      {
        signature: 'call(name: string, options?: { limit?: number }): Promise<string[]>',
        description: 'Two lines. Throws `step-failed`',
      },
      { signature: 'nested: { run(): void }', description: '' },
    ])
  })

  it('rejects an unknown interface', () => {
    expect(() => interfaceMembers('packages/core/src/durable/step.ts', 'Stairs')).toThrow(
      'declares no interface Stairs',
    )
  })
})

describe('deriveReference', () => {
  it.each([
    ['operations.md', OPERATIONS.map(({ method, path }) => `\`${method} ${path}\``)],
    ['errors.md', Object.keys(ERRORS).map((error) => `\`${error}\``)],
    [
      'events.md',
      [...Object.keys(EVENTS), ...Object.values(SUBJECTS).map(({ pattern }) => pattern)].map((text) => `\`${text}\``),
    ],
    ['scopes.md', Object.keys(SCOPES).map((scope) => `\`${scope}\``)],
    ['config.md', configFields.flatMap(({ path, env }) => [`\`${path}\``, `\`${env}\``])],
    ['metrics.md', Object.keys(METRICS).map((metric) => `\`${metric}\``)],
  ])('lists every row of its table in %s', (name, expected) => {
    expect(expected.filter((text) => !pages[name]?.includes(text))).toEqual([])
  })

  it('lists what is deprecated, with what to use instead', () => {
    const source =
      '/** One. */\nexport const one = 1\n\n/**\n * Two.\n *\n * @deprecated Use `one`.\n */\nexport const two = 2\n'

    expect(deprecatedIn(source)).toEqual([['`two`', 'Use `one`.']])
    expect(pages['stability.md']).toContain('## Deprecated')
  })

  it('marks every operation that is refused by contract', () => {
    const marked = pages['operations.md']?.split('\n').filter((line) => line.endsWith('| **501 by contract** |'))

    expect(marked?.length).toBe(OPERATIONS.filter(({ refused }) => refused).length)
  })

  it('contains only tables whose rows have as many cells as their header', () => {
    const blocks = Object.values(pages).flatMap((text) => text.split('\n\n'))
    const tables = blocks.filter((part) => part.startsWith('| '))
    expect(tables.length).toBeGreaterThan(20)
    for (const table of tables) {
      const widths = table
        .trim()
        .split('\n')
        .map((line) => line.split(/(?<!\\)\|/).length)
      expect(new Set(widths).size, table).toBe(1)
    }
  })
})

describe('table', () => {
  it('omits empty columns and escapes bars', () => {
    expect(
      table(
        ['A', 'B', 'C'],
        [
          ['1', '', 'x|y'],
          ['2', '', ''],
        ],
      ),
    ).toBe('| A | C |\n| --- | --- |\n| 1 | x\\|y |\n| 2 |  |')
  })
})

describe('withLayerTable', () => {
  it('replaces only the text between the markers', () => {
    const text = withLayerTable('before\n<!-- layers:start -->\nold\n<!-- layers:end -->\nafter\n')

    expect(text).toMatch(/^before\n<!-- layers:start -->\n\| Packages \|/)
    expect(text).toMatch(/\n<!-- layers:end -->\nafter\n$/)
    expect(text).not.toContain('old')
    const rows = (text ?? '').split('\n').map((row) => row.split('|').map((cell) => cell.trim()))
    for (const [name, allowed] of Object.entries(layers)) {
      const row = rows.find(([, packages]) => packages?.split(', ').includes(`\`${name}\``))
      expect(row?.[2]).toBe(allowed.length === 0 ? 'nothing' : allowed.map((one) => `\`${one}\``).join(', '))
    }
    expect(withLayerTable(text ?? '')).toBe(text)
  })

  it('returns undefined for a document without both markers in order', () => {
    expect(withLayerTable('nothing')).toBeUndefined()
    expect(withLayerTable('<!-- layers:start -->')).toBeUndefined()
    expect(withLayerTable('<!-- layers:end --> <!-- layers:start -->')).toBeUndefined()
  })
})

describe.runIf(existsSync(architecture))('ARCHITECTURE.md', () => {
  it('has an up-to-date layer table', () => {
    const text = readFileSync(architecture, 'utf8')
    expect(withLayerTable(text)).toBe(text)
  })
})

describe('llms.txt', () => {
  it('is up to date', () => {
    expect(readFileSync(join(root, 'llms.txt'), 'utf8')).toBe(llmsText())
  })

  it('links existing pages, each with a sentence', () => {
    const rows = [...llmsText().matchAll(/^- \[(.*?)\]\((.*?)\): (.*)$/gm)]

    expect(rows.length).toBeGreaterThan(30)
    expect(rows.filter(([, , path = '']) => !existsSync(join(root, path)))).toEqual([])
    expect(rows.filter(([, title, , sentence = '']) => title === '' || !/^.{20,300}[.!?]$/.test(sentence))).toEqual([])
  })

  it('rejects a guide that the README does not link', () => {
    expect(() => guides('See (docs/guides/first-five-minutes.md).')).toThrow('docs/guides/approvals.md')
  })
})

describe('firstSentence', () => {
  it.each([
    ['# T\n\nOne thing. Another.\n', 'One thing.'],
    [
      '<!-- x -->\n\n# T\n\nA [link](there.md), e.g. this\none: `a.b`. More.\n\nNext.\n',
      'A link, e.g. this one: `a.b`.',
    ],
    ['# T\n\nNo end\n', 'No end'],
  ])('returns the first sentence of %j', (markdown, expected) => {
    expect(firstSentence(markdown)).toBe(expected)
  })
})
