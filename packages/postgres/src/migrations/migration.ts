/**
 * One schema change. Never edit a released migration: every database that applied it stores the checksum of its SQL. The
 * statements name tables without a schema; the connection sets it.
 */
export interface Migration {
  readonly version: number // from 1, without gaps
  readonly name: string
  /** Servers that know the schema up to this version can work with the changed one. By default, only those that know this migration. */
  readonly readableFrom?: number | undefined
  readonly sql: string
}
