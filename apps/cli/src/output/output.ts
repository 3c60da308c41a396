import { stripVTControlCharacters } from 'node:util'
import { type Terminal, writeDocument } from '../terminal.ts'
import { type Columns, columnsText } from './columns.ts'
import { type Paint, painter } from './paint.ts'
import { pickFields } from './pick-fields.ts'

export const OUTPUT_FORMATS = ['table', 'json', 'ndjson'] as const
export type OutputFormat = (typeof OUTPUT_FORMATS)[number]

export interface OutputFlags {
  readonly json?: boolean | undefined
  /** Fields that `--json=a,b` keeps. */
  readonly jsonFields?: readonly string[] | undefined
  readonly format?: string | undefined
  readonly quiet?: boolean | undefined
  readonly color?: boolean | undefined
}

interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

/** Writes data to stdout in the requested format, and notes to stderr. */
export interface Output {
  readonly isJson: boolean
  readonly paint: Paint
  /** One JSON document, or text. */
  document(value: unknown, text: (paint: Paint) => string): void
  /** A page of items: one JSON document, a line per item with `ndjson`, or a table. */
  list<Item>(page: Page<Item>, columns: Columns<Item>): void
  /** One item of a stream: a line of JSON, or text. Without a terminal it is JSON, unless `--format table` is set. */
  item(value: unknown, text: (paint: Paint) => string): void
  /** Streamed text, such as the answer of an agent; ignored with JSON. */
  text(text: string): void
  /** Writes a line to stderr, unless `--quiet` is set. */
  note(text: string): void
}

export function createOutput(terminal: Terminal, flags: OutputFlags): Output {
  const { stdout, stderr } = terminal
  const format = formatOf(flags)
  const isJson = format !== 'table'
  const streamsJson = isJson || (flags.format !== 'table' && stdout.isTTY !== true)
  const paint = painter(terminal.env, stdout, flags.color)
  const pick = (value: unknown) => pickFields(value, flags.jsonFields)

  return {
    isJson,
    paint,
    document(value, text) {
      if (isJson) writeDocument(terminal, pick(value))
      else stdout.write(text(paint))
    },
    list(page, columns) {
      if (format === 'json') writeDocument(terminal, { ...page, items: page.items.map(pick) })
      else if (format === 'ndjson') for (const item of page.items) writeDocument(terminal, pick(item))
      else
        stdout.write(
          columnsText(page.items, columns, { paint, width: stdout.isTTY ? stdout.columns || undefined : undefined }),
        )
      if (!isJson && page.nextCursor !== null && !flags.quiet) {
        stderr.write(`more: --cursor ${page.nextCursor}\n`)
      }
    },
    item(value, text) {
      if (streamsJson) writeDocument(terminal, pick(value))
      else stdout.write(text(paint))
    },
    text(text) {
      if (!isJson) stdout.write(stdout.isTTY ? withoutControl(text) : text)
    },
    note(text) {
      if (!flags.quiet) stderr.write(`${text}\n`)
    },
  }
}

function formatOf({ json, jsonFields, format }: OutputFlags): OutputFormat {
  if (format === 'ndjson') return 'ndjson'
  return json || jsonFields !== undefined || format === 'json' ? 'json' : 'table'
}

/** Removes control characters, so that the text of an agent cannot control the terminal. */
export const withoutControl = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  stripVTControlCharacters(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
