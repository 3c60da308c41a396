/** One schema change. Never edit a released one: every database that applied it stores the checksum of its text. */
export interface Migration {
  readonly version: number // from 1, without gaps
  readonly name: string
  readonly sql: string
}
