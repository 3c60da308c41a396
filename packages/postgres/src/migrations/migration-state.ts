/** The applied and the pending migrations of a schema. */
export interface MigrationState {
  readonly applied: readonly { readonly version: number; readonly name: string; readonly appliedAt: number }[]
  readonly pending: readonly { readonly version: number; readonly name: string }[]
}
