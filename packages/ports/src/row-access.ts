/**
 * The rows that a caller may see: those with this `owner`, and those whose id, agent or workflow is in the list
 * (`'all'`: any). A row is visible if any member matches. `EVERY_ROW` makes all rows visible, an empty object none.
 */
export interface RowAccess {
  readonly owner?: string
  readonly ids?: readonly string[]
  readonly agentIds?: readonly string[] | 'all'
  readonly workflowIds?: readonly string[] | 'all'
}

export const EVERY_ROW = 'every-row'
export type Visibility = RowAccess | typeof EVERY_ROW
