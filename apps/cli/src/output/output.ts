import { stripVTControlCharacters } from 'node:util'
import { type Terminal, writeDocument } from '../terminal.ts'
import { type Column, columnsText } from './columns.ts'
import { type Paint, painter } from './paint.ts'
import { pickFields } from './pick-fields.ts'

export type OutputFormat = 'table' | 'json' | 'ndjson'

export interface OutputFlags {
  readonly json?: boolean | undefined
  /** Members that `--json=a,b` keeps. */
  readonly jsonFields?: readonly string[] | undefined
  readonly format?: string | undefined
  readonly quiet?: boolean | undefined
  readonly color?: boolean | undefined
}

interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

/** Where a command writes: data to stdout in the format that was asked for, talk to stderr. */
export interface Output {
  readonly isJson: boolean
  readonly paint: Paint
  /** One thing: a document, or the text for a person. */
  document(value: unknown, text: (paint: Paint) => string): void
  /** A page of things: a document, one a line with `ndjson`, or a table. */
  list<Item>(page: Page<Item>, columns: readonly Column<Item>[]): void
  /** One thing of a stream: a line of JSON, or the text for a person. Without a terminal it is JSON unless a table was asked for. */
  item(value: unknown, text: (paint: Paint) => string): void
  /** Text as it comes, such as the words of an agent. Not with JSON. */
  text(text: string): void
  /** Talk on stderr. */
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

/** What others wrote must not move the cursor of whoever reads it. */
const withoutControl = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  stripVTControlCharacters(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
