/** One step of the schema. Never edited once released: its text is checksummed in every database it was applied to. */
export interface Migration {
  readonly version: number // from 1, without gaps
  readonly name: string
  readonly sql: string
}
