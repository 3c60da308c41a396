/**
 * The rows that a caller may see: those with this `owner`, and those whose id, agent or workflow is in the
 * corresponding list (`'all'` stands for every value). One matching member is enough. `EVERY_ROW` makes all rows
 * visible, an empty object none.
 */
export interface RowAccess {
  readonly owner?: string
  readonly ids?: readonly string[]
  readonly agentIds?: readonly string[] | 'all'
  readonly workflowIds?: readonly string[] | 'all'
}

export const EVERY_ROW = 'every-row'
export type Visibility = RowAccess | typeof EVERY_ROW
