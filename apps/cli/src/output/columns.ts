import { stripVTControlCharacters } from 'node:util'
import { type Paint, statusColour } from './paint.ts'

export interface Column<Item> {
  readonly head: string
  readonly cell: (item: Item) => Cell
  /** Cells are statuses such as `completed` and are coloured. */
  readonly isStatus?: true
  /** Cells are ids that the user copies into another command: they are never cut. */
  readonly isId?: true
}

type Cell = string | number | null | undefined

/** The members of an item that are texts or numbers. */
type Member<Item> = { [Name in keyof Item]-?: Item[Name] extends Cell ? Name : never }[keyof Item] & string

/** A member of the items, or what a row shows. */
type CellSpec<Item> = Member<Item> | ((item: Item) => Cell)

/** A column that is more than its cells. */
interface MarkedCell<Item> {
  readonly cell: CellSpec<Item>
  readonly isStatus?: true
  readonly isId?: true
}

/** The columns of a table by their heads; a list if a head is not fixed. */
export type Columns<Item> = Readonly<Record<string, CellSpec<Item> | MarkedCell<Item>>> | readonly Column<Item>[]

/** A column of ids. */
export const id = <Name extends string>(cell: Name): { readonly cell: Name; readonly isId: true } => ({
  cell,
  isId: true,
})

/** A column of statuses. */
export const status = <Name extends string>(cell: Name): { readonly cell: Name; readonly isStatus: true } => ({
  cell,
  isStatus: true,
})

function columnsOf<Item>(columns: Columns<Item>): readonly Column<Item>[] {
  if (isList(columns)) return columns
  return Object.entries(columns).map(([head, spec]) => {
    const { cell, ...marks }: MarkedCell<Item> = typeof spec === 'object' ? spec : { cell: spec }
    return { head, ...marks, cell: typeof cell === 'function' ? cell : (item) => textOf(item[cell]) }
  })
}

const isList = <Item>(columns: Columns<Item>): columns is readonly Column<Item>[] => Array.isArray(columns)

const textOf = (value: unknown): Cell => (typeof value === 'string' || typeof value === 'number' ? value : undefined)

export interface TableStyle {
  readonly paint: Paint
  /** Width of the terminal; without one, nothing is cut. */
  readonly width: number | undefined
}

const SPACE = '  '
const MIN_WIDTH = 8

/**
 * Formats a table. Columns are as wide as their widest cell. On a terminal that is too narrow, columns without a
 * value in any row are left out first; then the widest columns without ids shrink; then the last columns are left out.
 */
export function columnsText<Item>(
  items: readonly Item[],
  columns: Columns<Item>,
  { paint, width }: TableStyle,
): string {
  if (items.length === 0) return 'nothing to show\n'
  const all = columnsOf(columns).map((column) => columnOf(items, column))
  const shown = width === undefined ? all : fitted(withoutEmpty(all, width), width)
  const widths = shown.map((column) => column.width)
  const rows = items.map((_, row) => shown.map(({ cells }) => cells[row] ?? ''))
  const line = (cells: readonly string[], colourOf: (text: string, at: number) => string) =>
    cells
      .map((text, at) =>
        colourOf(cut(text, widths[at] ?? 0).padEnd(at === cells.length - 1 ? 0 : (widths[at] ?? 0)), at),
      )
      .join(SPACE)
      .trimEnd()
  const head = line(
    shown.map(({ spec }) => spec.head),
    (text) => paint('bold', text),
  )
  const colourCell = (text: string, at: number) => {
    const colour = shown[at]?.spec.isStatus ? statusColour(text.trim()) : undefined
    return colour === undefined ? text : paint(colour, text)
  }
  return `${[head, ...rows.map((cells) => line(cells, colourCell))].join('\n')}\n`
}

/** One line per name and value; unset values are omitted. */
export function pairsText(pairs: readonly (readonly [name: string, value: unknown])[], paint: Paint): string {
  const shown = pairs.flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [[name, value] as const],
  )
  const width = Math.max(0, ...shown.map(([name]) => name.length))
  return shown
    .map(
      ([name, value]) =>
        `${paint('dim', name.padEnd(width))}  ${oneLine(typeof value === 'object' ? JSON.stringify(value) : String(value))}\n`,
    )
    .join('')
}

/** Removes line breaks and control characters, so that stored text cannot break the table or control the terminal. */
export const oneLine = (value: string | number | null | undefined): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
  stripVTControlCharacters(String(value ?? '-')).replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')

const cut = (text: string, width: number): string => (text.length <= width ? text : `${text.slice(0, width - 1)}…`)

interface ShownColumn<Item> {
  readonly spec: Column<Item>
  readonly cells: readonly string[]
  readonly width: number
}

function columnOf<Item>(items: readonly Item[], spec: Column<Item>): ShownColumn<Item> {
  const cells = items.map((item) => oneLine(spec.cell(item)))
  return { spec, cells, width: Math.max(spec.head.length, ...cells.map(({ length }) => length)) }
}

const totalOf = (columns: readonly { readonly width: number }[]): number =>
  columns.reduce((sum, { width }) => sum + width, SPACE.length * (columns.length - 1))

function withoutEmpty<Item>(columns: readonly ShownColumn<Item>[], width: number): readonly ShownColumn<Item>[] {
  const empty = columns.findLastIndex(({ spec, cells }) => spec.isId !== true && cells.every((cell) => cell === '-'))
  return empty < 0 || totalOf(columns) <= width ? columns : withoutEmpty(columns.toSpliced(empty, 1), width)
}

/** Narrows the widest column without ids, one character at a time, then drops columns from the end. */
function fitted<Item>(columns: readonly ShownColumn<Item>[], width: number): readonly ShownColumn<Item>[] {
  const narrowed = [...columns]
  while (totalOf(narrowed) > width) {
    const widths = narrowed.map((column) => (column.spec.isId ? 0 : column.width))
    const widest = widths.indexOf(Math.max(...widths))
    const column = narrowed[widest]
    if (column === undefined || column.spec.isId || column.width <= MIN_WIDTH) return withoutLast(columns, width)
    narrowed[widest] = { ...column, width: column.width - 1 }
  }
  return narrowed
}

/** Without the last column that is not an id, unless only ids are left. */
function withoutLast<Item>(columns: readonly ShownColumn<Item>[], width: number): readonly ShownColumn<Item>[] {
  const last = columns.findLastIndex(({ spec }) => spec.isId !== true)
  return last < 0 ? columns : fitted(columns.toSpliced(last, 1), width)
}
