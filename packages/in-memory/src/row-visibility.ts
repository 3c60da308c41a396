import { EVERY_ROW, type RunKind, type Visibility } from '@perdure/ports'

/** The fields of a row that `RowAccess` checks. */
export interface AccessFields {
  readonly id: string
  readonly owner: string
  readonly agentId?: string | undefined
  readonly workflowId?: string | undefined
}

/** Access fields of a row that belongs to an agent or workflow. */
export const ofTarget = ({
  id,
  owner,
  kind,
  targetId,
}: {
  readonly id: string
  readonly owner: string
  readonly kind: RunKind
  readonly targetId: string
}): AccessFields => (kind === 'agent' ? { id, owner, agentId: targetId } : { id, owner, workflowId: targetId })

export function isVisible(row: AccessFields, visibility: Visibility): boolean {
  if (visibility === EVERY_ROW) return true
  return (
    row.owner === visibility.owner ||
    isNamed(row.id, visibility.ids) ||
    isNamed(row.agentId, visibility.agentIds) ||
    isNamed(row.workflowId, visibility.workflowIds)
  )
}

function isNamed(value: string | undefined, names: readonly string[] | 'all' | undefined): boolean {
  if (value === undefined || names === undefined) return false
  return names === 'all' || names.includes(value)
}
