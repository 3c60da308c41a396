/**
 * One schema change. Never edit a released migration: every database that applied it stores the checksum of its SQL.
 */
export interface Migration {
  readonly version: number // from 1, without gaps
  readonly name: string
  readonly sql: string
}
