/**
 * Which rows a caller may see: those of `owner`, and those whose named field is in its list (`'all'`: any value).
 * A row is visible when any part matches. `EVERY_ROW` sees all; an empty object sees none.
 */
export interface RowAccess {
  readonly owner?: string
  readonly ids?: readonly string[]
  readonly agentIds?: readonly string[] | 'all'
  readonly workflowIds?: readonly string[] | 'all'
}

export const EVERY_ROW = 'every-row'
export type Visibility = RowAccess | typeof EVERY_ROW
