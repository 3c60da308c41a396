export interface AppliedMigration {
  readonly version: number
  readonly name: string
  readonly appliedAt: number // epoch milliseconds
}

/** The schema versions before and after the pending migrations were applied. */
export interface SchemaChange {
  /** 0 for a new database. */
  readonly from: number
  readonly to: number
  /** The copy with the old schema; `undefined` if none was made. */
  readonly copy: string | undefined
}
