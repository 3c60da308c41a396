import { encodeText } from '../connection/text-codec.ts'
import { indexedValue, indexedWords } from '../query/indexed-words.ts'
import type { CatalogTable } from './catalog.ts'
import type { CopiedRow, CopiedTable, CopiedValue } from './copied-table.ts'

/** How a value is sent to the server, and the text by which both sides compare it. */
interface TypeForm {
  /** The value as a parameter of the type `text`. */
  readonly sent: (value: CopiedValue) => string
  /** The hashed text of a value before it is stored. */
  readonly hashed: (value: CopiedValue) => string
  /** An expression for the same text of a stored value. */
  readonly stored: (column: string) => string
}

const integer = (value: CopiedValue): string => {
  if (Number.isSafeInteger(value)) return String(value)
  throw new Error(`${value} is not an integer`)
}

const float = (value: CopiedValue): string => (Object.is(value, -0) ? '-0' : String(Number(value)))

function floatBytes(value: CopiedValue): string {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(Number(value))
  return bytes.toString('hex')
}

const text = (value: CopiedValue): string => encodeText(String(value))
const hex = (value: CopiedValue): string => Buffer.from(value as Uint8Array).toString('hex')

/** A list is a JSON array of texts in a database file. */
const list = (value: CopiedValue): readonly string[] => (JSON.parse(String(value)) as string[]).map(encodeText)
const quoted = (item: string): string => `"${item.replaceAll(/["\\]/g, '\\$&')}"`

const FORMS: Readonly<Record<string, TypeForm>> = {
  text: { sent: text, hashed: text, stored: (column) => column },
  bigint: { sent: integer, hashed: integer, stored: (column) => `${column}::text` },
  integer: { sent: integer, hashed: integer, stored: (column) => `${column}::text` },
  'double precision': {
    sent: float,
    hashed: floatBytes,
    stored: (column) => `encode(float8send(${column}), 'hex')`,
  },
  'text[]': {
    sent: (value) => `{${list(value).map(quoted).join(',')}}`,
    hashed: (value) => JSON.stringify(list(value)),
    stored: (column) => `array_to_json(${column})::text`,
  },
  bytea: { sent: (value) => `\\x${hex(value)}`, hashed: hex, stored: (column) => `encode(${column}, 'hex')` },
}

type Derive = (valueIn: (column: string) => CopiedValue) => CopiedValue

const indexOf =
  (column: string): Derive =>
  (valueIn) =>
    indexedValue(String(valueIn(column)))

/** What this adapter stores otherwise than a database file: see `indexed-words.ts`. */
const DERIVED: Readonly<Record<string, Readonly<Record<string, Derive>>>> = {
  run_fields: { value: indexOf('value') },
  session_fields: { value: indexOf('value') },
  facts: { words: (valueIn) => JSON.stringify(indexedWords(String(valueIn('text')))) },
}

export interface StoredColumn {
  readonly name: string
  readonly type: string
}

/** How the rows of a table are stored. */
export interface StoredForm {
  readonly columns: readonly StoredColumn[]
  /** The parameters of a row, and its hashed text. */
  encode(row: CopiedRow): { readonly sent: readonly (string | null)[]; readonly hashed: string }
  /** Selects the hash of each row. */
  readonly hashes: string
}

/** @throws Error if a column of one side has no counterpart on the other */
export function storedForm({ name, columns, order }: CopiedTable, catalog: CatalogTable | undefined): StoredForm {
  const derived = DERIVED[name] ?? {}
  const missing = columns.filter((column) => !catalog?.columns.some((known) => known.name === column))
  const unknown = (catalog?.columns ?? []).filter((known) => !columns.includes(known.name) && !(known.name in derived))
  if (catalog === undefined || missing.length + unknown.length > 0) {
    const named = [...missing, ...unknown.map((column) => column.name)].join(', ')
    throw new Error(`the table ${name} differs between SQLite and PostgreSQL: ${named || 'missing'}`)
  }
  const parts = catalog.columns.map((column) => {
    const position = columns.indexOf(column.name)
    const read: (row: CopiedRow) => CopiedValue = (row) => row[position] ?? null
    const derive = derived[column.name]
    return {
      form: formOf(name, column),
      valueIn: derive === undefined ? read : (row: CopiedRow) => derive((of) => row[columns.indexOf(of)] ?? null),
    }
  })
  const stored = catalog.columns.map((column, index) => storedText(parts[index]?.form.stored(`"${column.name}"`) ?? ''))
  return {
    columns: catalog.columns,
    encode(row) {
      const values = parts.map(({ form, valueIn }) => ({ form, value: valueIn(row) }))
      return {
        sent: values.map(({ form, value }) => (value === null ? null : form.sent(value))),
        hashed: values.map(({ form, value }) => (value === null ? NULL : framed(form.hashed(value)))).join(''),
      }
    },
    hashes: `select sha256(convert_to(${stored.join(' || ')}, 'UTF8')) as hash from "${name}"
      order by ${order.map((column) => `"${column}"`).join(', ')}`,
  }
}

function formOf(table: string, { name, type }: StoredColumn): TypeForm {
  const form = FORMS[type]
  if (form === undefined) throw new Error(`the column ${table}.${name} has the type ${type}, which cannot be copied`)
  return form
}

const NULL = '-'

/** The length keeps two rows with different boundaries between their values apart. */
const framed = (value: string): string => `${Buffer.byteLength(value)}:${value}`
const storedText = (value: string): string => `coalesce(octet_length(${value})::text || ':' || (${value}), '${NULL}')`
