export interface AppliedMigration {
  readonly version: number
  readonly name: string
  readonly appliedAt: number // epoch milliseconds
}
