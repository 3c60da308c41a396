import { describe, expect, it } from 'vitest'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import { columnsText, oneLine } from './columns.ts'
import { createOutput, type OutputFlags } from './output.ts'
import { painter } from './paint.ts'
import { pickFields } from './pick-fields.ts'
import { durationText, relativeText } from './time-text.ts'

const plain = (_: unknown, text: string) => text
const COLUMNS = [
  { head: 'ID', cell: (item: { id: string; note: string }) => item.id },
  { head: 'NOTE', cell: (item: { id: string; note: string }) => item.note },
]
const PAGE = { items: [{ id: 'a', note: 'x'.repeat(60) }], nextCursor: 'c1' }

function written(flags: OutputFlags, columns?: number) {
  const terminal = recordingTerminal({ cwd: '/', ...(columns === undefined ? {} : { columns }) })
  return { terminal, out: createOutput(terminal, flags) }
}

describe('createOutput', () => {
  it('writes a list as a table to stdout and the next cursor to stderr', () => {
    const { terminal, out } = written({})
    out.list(PAGE, COLUMNS)

    expect(terminal.out()).toBe(`ID  NOTE\na   ${'x'.repeat(60)}\n`)
    expect(terminal.err()).toBe('more: --cursor c1\n')
  })

  it('cuts columns to the width of the terminal', () => {
    const { terminal, out } = written({ color: false }, 30)
    out.list(PAGE, COLUMNS)

    expect(terminal.out().split('\n')[1]).toBe(`a   ${'x'.repeat(25)}…`)
  })

  it('cuts nothing on a terminal of unknown width', () => {
    const { terminal, out } = written({ color: false }, 0)
    out.list(PAGE, COLUMNS)

    expect(terminal.out()).toContain('x'.repeat(60))
  })

  it.each([
    [{ json: true }, `${JSON.stringify(PAGE)}\n`],
    [{ format: 'json' }, `${JSON.stringify(PAGE)}\n`],
    [{ format: 'ndjson' }, `${JSON.stringify(PAGE.items[0])}\n`],
    [{ jsonFields: ['id'] }, '{"items":[{"id":"a"}],"nextCursor":"c1"}\n'],
  ])('writes a list with %j', (flags, expected) => {
    const { terminal, out } = written(flags)
    out.list(PAGE, COLUMNS)

    expect(terminal.out()).toBe(expected)
    expect(terminal.err()).toBe('')
  })

  it.each([
    [{}, undefined, '{"n":1}\n'],
    [{}, 80, 'one\n'],
    [{ format: 'table' }, undefined, 'one\n'],
    [{ json: true }, 80, '{"n":1}\n'],
  ])('writes a stream item with %j on a terminal of %s columns', (flags, columns, expected) => {
    const { terminal, out } = written(flags, columns)
    out.item({ n: 1 }, () => 'one\n')

    expect(terminal.out()).toBe(expected)
  })

  it('writes no notes with --quiet', () => {
    const { terminal, out } = written({ quiet: true })
    out.note('hello')
    out.list(PAGE, COLUMNS)

    expect(terminal.err()).toBe('')
  })

  it('removes control characters on a terminal and keeps them in a pipe', () => {
    const onTerminal = written({}, 80)
    onTerminal.out.text('a\u001b[2Jb\u0007\n')
    const inPipe = written({})
    inPipe.out.text('a\u001b[2Jb\n')

    expect(onTerminal.terminal.out()).toBe('ab\n')
    expect(inPipe.terminal.out()).toBe('a\u001b[2Jb\n')
  })
})

describe('painter', () => {
  it.each([
    [{}, true, true, true],
    [{}, false, true, false],
    [{ NO_COLOR: '1' }, true, true, false],
    [{ NO_COLOR: '' }, true, true, true],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, false, true],
    [{ FORCE_COLOR: '0' }, true, true, false],
    [{ TERM: 'dumb' }, true, true, false],
    [{}, true, false, false],
  ])('paints with %j, isTTY %s and isWanted %s: %s', (env, isTTY, isWanted, expected) => {
    const paint = painter(env, { write: () => undefined, isTTY }, isWanted)

    expect(paint('red', 'x') !== 'x').toBe(expected)
  })
})

describe('columnsText', () => {
  it('prints a message for an empty list', () => {
    expect(columnsText([], COLUMNS, { paint: plain, width: undefined })).toBe('nothing to show\n')
  })

  it('removes line breaks and colours from a cell', () => {
    expect(oneLine('a\nb\u001b[31mc')).toBe('a bc')
    expect(oneLine(null)).toBe('-')
  })
})

describe('a table on a narrow terminal', () => {
  const RUN = `run_${'0123456789'.repeat(2)}012345`
  const WIDE = [
    { head: 'RUN', cell: () => RUN, isId: true as const },
    { head: 'OF', cell: () => 'triage-of-incoming-mail' },
    { head: 'STATUS', cell: () => 'completed' },
    { head: 'TOKENS', cell: () => 1_234 },
    { head: 'COST', cell: () => '$0.0123' },
    { head: 'STARTED', cell: () => '3 min ago' },
  ]
  const table = (width: number) => columnsText([{}], WIDE, { paint: plain, width }).split('\n')

  it.each([200, 80, 60, 40, 30, 10])('never cuts an id at %i columns', (width) => {
    const [head = '', row = ''] = table(width)

    expect(row.split(' ')[0]).toBe(RUN)
    expect(Math.max(head.length, row.length)).toBeLessThanOrEqual(Math.max(width, RUN.length))
  })

  it('cuts other columns before it leaves the last ones out', () => {
    expect(table(80)[0]).toMatch(/^RUN +OF +STATUS +TOKENS +COST +STARTED$/)
    expect(table(60)[0]).toMatch(/^RUN +OF +STATUS/)
    expect(table(60)[0]).not.toContain('STARTED')
  })

  it('first leaves out columns without a value', () => {
    const items = [{}, {}]
    const cell = () => undefined
    const columns = WIDE.map((column) => (column.head === 'COST' ? { ...column, cell } : column))
    const head = (width: number) => columnsText(items, columns, { paint: plain, width }).split('\n')[0]

    expect(head(200)).toMatch(/COST/)
    expect(head(80)).toMatch(/^RUN +OF +STATUS +TOKENS +STARTED$/)
  })
})

describe('pickFields', () => {
  it('keeps fields by their paths and omits missing ones', () => {
    expect(pickFields({ a: 1, b: { c: 2 } }, ['a', 'b.c', 'd', 'constructor'])).toEqual({ a: 1, 'b.c': 2 })
    expect(pickFields('text', ['a'])).toBe('text')
  })
})

describe('relativeText', () => {
  const now = Date.parse('2027-01-01T12:00:00.000Z')

  it.each([
    ['2027-01-01T12:00:00.400Z', 'now'],
    ['2027-01-01T11:59:00.000Z', '1 min ago'],
    ['2027-01-01T14:30:00.000Z', 'in 2 h'],
    ['2026-12-29T12:00:00.000Z', '3 d ago'],
    [undefined, '-'],
  ])('formats the instant %s as the text %s', (iso, expected) => {
    expect(relativeText(iso, now)).toBe(expected)
  })
})

describe('durationText', () => {
  it.each([
    [38, '38 ms'],
    [4_200, '4.2 s'],
    [185_000, '3 min 5 s'],
    [7_260_000, '2 h 1 min'],
  ])('formats a duration of %s ms as %s', (ms, expected) => {
    expect(durationText(ms)).toBe(expected)
  })
})
