import type { Page, PageQuery } from '@perdure/ports'
import type { AgentRegistry } from './agent-registry.ts'
import type { RunTarget } from './run-target.ts'
import { pageOfTargets, type TargetResource, toTargetResource } from './target-resource.ts'

export interface ReadAgentsDeps {
  readonly agents: AgentRegistry
  /** How many runs of a target execute and how many wait for a slot, in this process. */
  readonly countsOf: (target: Pick<RunTarget, 'kind' | 'id'>) => { readonly running: number; readonly queued: number }
}

/** Reads agents for the API. @throws AppError `agent-not-found` */
export interface ReadAgents {
  list(page: PageQuery): Page<AgentResource>
  get(agentId: string): AgentResource
  state(agentId: string): AgentStateResource
}

export function createReadAgents({ agents, countsOf }: ReadAgentsDeps): ReadAgents {
  return {
    list: (page) => pageOfTargets(agents, page),
    get: (agentId) => toTargetResource(agents, agents.get(agentId)),
    state(agentId) {
      const agent = agents.get(agentId)
      return { id: agent.id, concurrency: agent.concurrency, ...countsOf(agent) }
    },
  }
}

export type AgentResource = TargetResource

export interface AgentStateResource {
  readonly id: string
  readonly concurrency: AgentResource['concurrency']
  readonly running: number
  readonly queued: number
}
