import { stripVTControlCharacters } from 'node:util'
import { type Paint, statusColour } from './paint.ts'

export interface Column<Item> {
  readonly head: string
  readonly cell: (item: Item) => string | number | null | undefined
  /** Its cells are words such as `completed`, which have a colour. */
  readonly isStatus?: true
}

export interface TableLook {
  readonly paint: Paint
  /** Of the terminal; without one nothing is cut. */
  readonly width: number | undefined
}

const SPACE = '  '
const SHORTEST = 8

/** A table with columns as wide as their widest cell; on a terminal the widest ones give way until it fits. */
export function columnsText<Item>(
  items: readonly Item[],
  columns: readonly Column<Item>[],
  { paint, width }: TableLook,
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

/** Name and value, one below the other; what is not set is left out. */
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

/** What others wrote must neither break the table nor move the cursor of whoever reads it. */
export const oneLine = (value: string | number | null | undefined): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
  stripVTControlCharacters(String(value ?? '-')).replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')

const cut = (text: string, width: number): string => (text.length <= width ? text : `${text.slice(0, width - 1)}…`)

/** The widest column is narrowed, one character at a time, until the line fits or all are short. */
function fitted(natural: readonly number[], width: number): readonly number[] {
  const widths = [...natural]
  const total = () => widths.reduce((sum, one) => sum + one, SPACE.length * (widths.length - 1))
  while (total() > width) {
    const widest = widths.indexOf(Math.max(...widths))
    if ((widths[widest] ?? 0) <= SHORTEST) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return widths
}
