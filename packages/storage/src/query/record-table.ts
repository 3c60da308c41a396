import type { EpochMs, JsonText } from '@perdure/ports'

export type ColumnType = 'text' | 'bigint' | 'integer' | 'double precision'

/** The columns of a table, or of a set of rows, with their types. */
export type ColumnTypes<Row> = { readonly [Column in keyof Row & string]: ColumnType }

export const columnsOf = <Row>(types: ColumnTypes<Row>): (keyof Row & string)[] =>
  Object.keys(types) as (keyof Row & string)[]

/** A column that does not hold its member as it is, or that has a name of its own. */
interface Column<Member> {
  readonly type: ColumnType
  readonly name?: string
  write?(member: Member): unknown
  read?(stored: never): Member
}

/** The columns for the members of a record. A column has the name of its member, in snake case. */
type Columns<T> = { readonly [Member in keyof T]-?: ColumnType | Column<NonNullable<T[Member]>> }

/** A member as JSON text. */
export const JSON_TEXT = {
  type: 'text',
  write: (member: unknown): string => JSON.stringify(member),
  read: (text: string) => JSON.parse(text),
} as const

/** How the rows of a table hold records. A missing member is null. */
export interface RecordTable<T, Shape> {
  readonly types: ColumnTypes<RowOf<T, Shape>>
  readonly columns: readonly (keyof RowOf<T, Shape> & string)[]
  toRow(record: T): RowOf<T, Shape>
  /** The columns of the members that a change sets; the others are null. */
  toChanges(change: Partial<T>): Changes<RowOf<T, Shape>>
  toRecord(row: RowOf<T, Shape>): T
  /** The table with some of its columns. */
  only<Member extends keyof T & keyof Shape>(
    ...members: readonly Member[]
  ): RecordTable<Pick<T, Member>, Pick<Shape, Member>>
}

export type Changes<Row> = { readonly [Column in keyof Row]: Row[Column] | null }

/** A row of a table. */
export type RowIn<Table> = Table extends RecordTable<infer T, infer Shape> ? RowOf<T, Shape> : never

type RowOf<T, Shape> = {
  readonly [Member in keyof T & keyof Shape & string as NameOf<Member, Shape[Member]>]:
    | StoredOf<NonNullable<T[Member]>, Shape[Member]>
    | (undefined extends T[Member] ? null : never)
}

type NameOf<Member extends string, Spec> = Spec extends { readonly name: infer Name extends string }
  ? Name
  : SnakeCase<Member>

type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : ''

type StoredOf<Member, Spec> = Spec extends { write(member: never): infer Stored } ? Stored : Unbranded<Member>

type Unbranded<Member> = Member extends EpochMs ? number : Member extends JsonText ? string : Member

/** Every member of `T` needs a column. */
export const recordTable =
  <T>() =>
  <const Shape extends Columns<T>>(shape: Shape): RecordTable<T, Shape> => {
    const columns = Object.entries<ColumnType | Column<unknown>>(shape).map(toMapping)
    return tableOf(columns) as unknown as RecordTable<T, Shape>
  }

interface Mapping {
  readonly member: string
  readonly column: string
  readonly type: ColumnType
  readonly write: ((member: unknown) => unknown) | undefined
  readonly read: ((stored: never) => unknown) | undefined
}

const toMapping = ([member, spec]: [string, ColumnType | Column<unknown>]): Mapping => {
  const { type, name, write, read } = typeof spec === 'string' ? ({ type: spec } as Column<unknown>) : spec
  return { member, column: name ?? snakeCase(member), type, write, read }
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

type Fields = Record<string, unknown>

/** A table of which only the values are known. */
interface UntypedTable {
  readonly types: Readonly<Record<string, ColumnType>>
  readonly columns: readonly string[]
  toRow(record: Fields): Fields
  toChanges(change: Fields): Fields
  toRecord(row: Fields): Fields
  only(...members: readonly string[]): UntypedTable
}

/** Objects are copies of an empty one, because filling in members is faster than adding them. */
function tableOf(mappings: readonly Mapping[]): UntypedTable {
  const emptyRow = emptyOf(mappings.map(({ column }) => column))
  const emptyRecord = emptyOf(mappings.map(({ member }) => member))
  for (const { member } of mappings) emptyRecord[member] = undefined
  const toRow = (record: Fields): Fields => {
    const row: Fields = { ...emptyRow }
    for (const { member, column, write } of mappings) {
      const value = record[member]
      if (value !== undefined) row[column] = write === undefined ? value : write(value)
    }
    return row
  }
  const toRecord = (row: Fields): Fields => {
    const record: Fields = { ...emptyRecord }
    for (const { member, column, read } of mappings) {
      const value = row[column]
      if (value !== null && value !== undefined) record[member] = read === undefined ? value : read(value as never)
    }
    return record
  }
  return {
    types: Object.fromEntries(mappings.map(({ column, type }) => [column, type])),
    columns: mappings.map(({ column }) => column),
    toRow,
    toChanges: toRow,
    toRecord,
    only: (...members) => tableOf(mappings.filter(({ member }) => members.includes(member))),
  }
}

/** An object with these members. V8 keeps an object that is parsed in its fast form, however many members it has. */
const emptyOf = (names: readonly string[]): Fields =>
  JSON.parse(JSON.stringify(Object.fromEntries(names.map((name) => [name, null]))))
