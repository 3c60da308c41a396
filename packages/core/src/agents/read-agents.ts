import type { Page, PageQuery } from '@perdure/ports'
import type { Runner } from '../runs/runner.ts'
import { pageOfTargets, type TargetResource, toTargetResource } from '../runs/target-resource.ts'
import type { AgentRegistry } from './agent-registry.ts'

export interface ReadAgentsDeps {
  readonly agents: AgentRegistry
  readonly runner: Pick<Runner, 'countsOf'>
}

/** Reads of agents for the API. @throws AppError `agent-not-found` */
export interface ReadAgents {
  list(page: PageQuery): Page<AgentResource>
  get(agentId: string): AgentResource
  state(agentId: string): AgentStateResource
}

export function createReadAgents({ agents, runner }: ReadAgentsDeps): ReadAgents {
  return {
    list: (page) => pageOfTargets(agents.list(), page),
    get: (agentId) => toTargetResource(agents.get(agentId)),
    state(agentId) {
      const agent = agents.get(agentId)
      return { id: agent.id, concurrency: agent.concurrency, ...runner.countsOf(agent) }
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
