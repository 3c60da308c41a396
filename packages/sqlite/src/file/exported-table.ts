/** A table as it is exported: with the ids of runs, sessions and facts instead of the keys of this file. */
export interface ExportedTable {
  readonly name: string
  readonly columns: readonly string[]
  readonly order: readonly string[]
}
