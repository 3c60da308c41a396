import { authorizeOperation, type Principal, type ReadAgents, type ReadWorkflows } from '@perdure/core'
import type { PageQuery } from '@perdure/ports'
import { agentOperations, type Operation, workflowOperations } from '@perdure/protocol'

interface Registries {
  readonly readAgents: ReadAgents
  readonly readWorkflows: ReadWorkflows
}

/** The registered agents and workflows that the caller may read, also with a scope for single ids. */
export function readableIds(
  principal: Principal,
  { readAgents, readWorkflows }: Registries,
): { readonly agents: readonly string[]; readonly workflows: readonly string[] } {
  if (principal.scopes.length === 0) return { agents: [], workflows: [] }
  const may = (operation: Operation, params: Readonly<Record<string, string>>) => {
    try {
      return authorizeOperation(principal, operation, params) !== undefined
    } catch {
      return false
    }
  }
  return {
    agents: idsOf(readAgents).filter((agentId) => may(agentOperations.getAgent, { agentId })),
    workflows: idsOf(readWorkflows).filter((workflowId) => may(workflowOperations.getWorkflow, { workflowId })),
  }
}

const PAGE: PageQuery = { limit: 200, order: 'asc' }

function idsOf({ list }: Pick<ReadAgents | ReadWorkflows, 'list'>): readonly string[] {
  const ids: string[] = []
  let cursor: string | null | undefined
  do {
    const { items, nextCursor } = list({ ...PAGE, cursor: cursor ?? undefined })
    ids.push(...items.map(({ id }) => id))
    cursor = nextCursor
  } while (cursor !== null)
  return ids
}
