/** A value of a column of a database file. */
export type CopiedValue = string | number | null | Uint8Array
export type CopiedRow = readonly CopiedValue[]

/** A table of a database file; its rows have a value for each column. */
export interface CopiedTable {
  readonly name: string
  readonly columns: readonly string[]
  /** Columns by which the rows are sorted, and which identify a row. */
  readonly order: readonly string[]
}

/** A table that was copied and compared. */
export interface TableCopy {
  readonly name: string
  readonly rows: number
  /** SHA-256 over the SHA-256 of each row in canonical form, in the order of the table; in lower-case hex. */
  readonly sha256: string
}

/** The rows of a table that is copied. */
export interface TableSource {
  readonly table: CopiedTable
  readonly rows: Iterable<CopiedRow>
  /** How many rows the source says it has. */
  readonly count: number
}
