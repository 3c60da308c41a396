import { stripVTControlCharacters } from 'node:util'
import { type Paint, statusColour } from './paint.ts'

export interface Column<Item> {
  readonly head: string
  readonly cell: (item: Item) => string | number | null | undefined
  /** Cells are statuses such as `completed` and are coloured. */
  readonly isStatus?: true
}

export interface TableStyle {
  readonly paint: Paint
  /** Width of the terminal; without one, nothing is cut. */
  readonly width: number | undefined
}

const SPACE = '  '
const MIN_WIDTH = 8

/**
 * Formats a table. Columns are as wide as their widest cell; on a terminal, the widest columns shrink until the line
 * fits.
 */
export function columnsText<Item>(
  items: readonly Item[],
  columns: readonly Column<Item>[],
  { paint, width }: TableStyle,
): string {
  if (items.length === 0) return 'nothing to show\n'
  const rows = items.map((item) => columns.map(({ cell }) => oneLine(cell(item))))
  const natural = columns.map(({ head }, at) => Math.max(head.length, ...rows.map((row) => row[at]?.length ?? 0)))
  const widths = width === undefined ? natural : fitted(natural, width)
  const line = (cells: readonly string[], colourOf: (text: string, at: number) => string) =>
    cells
      .map((text, at) =>
        colourOf(cut(text, widths[at] ?? 0).padEnd(at === cells.length - 1 ? 0 : (widths[at] ?? 0)), at),
      )
      .join(SPACE)
      .trimEnd()
  const head = line(
    columns.map((column) => column.head),
    (text) => paint('bold', text),
  )
  const colourCell = (text: string, at: number) => {
    const colour = columns[at]?.isStatus ? statusColour(text.trim()) : undefined
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

/** Narrows the widest column, one character at a time, until the line fits or every column has its minimum width. */
function fitted(natural: readonly number[], width: number): readonly number[] {
  const widths = [...natural]
  const total = () => widths.reduce((sum, one) => sum + one, SPACE.length * (widths.length - 1))
  while (total() > width) {
    const widest = widths.indexOf(Math.max(...widths))
    if ((widths[widest] ?? 0) <= MIN_WIDTH) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return widths
}
