import type { Page, PageQuery } from '@perdure/ports'
import type { AgentRegistry } from './agent-registry.ts'
import type { DescribeSchema } from './describe-schema.ts'
import { concurrencyResource } from './flow-resource.ts'
import type { RunTarget } from './run-target.ts'
import { type DescribedTarget, pageOfTargets, type TargetResource, toDescribedTarget } from './target-resource.ts'

export interface ReadAgentsDeps {
  readonly agents: AgentRegistry
  readonly describeSchema: DescribeSchema
  /** How many runs of a target execute and how many wait for a slot, in this process. */
  readonly countsOf: (target: Pick<RunTarget, 'kind' | 'id'>) => { readonly running: number; readonly queued: number }
}

/** Reads agents for the API. @throws PerdureError `agent-not-found` */
export interface ReadAgents {
  list(page: PageQuery): Page<AgentResource>
  get(agentId: string): DescribedTarget
  state(agentId: string): AgentStateResource
}

export function createReadAgents({ agents, describeSchema, countsOf }: ReadAgentsDeps): ReadAgents {
  return {
    list: (page) => pageOfTargets(agents, page),
    get: (agentId) => toDescribedTarget(agents, agents.get(agentId), describeSchema),
    state(agentId) {
      const agent = agents.get(agentId)
      return { id: agent.id, concurrency: concurrencyResource(agent.concurrency), ...countsOf(agent) }
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
