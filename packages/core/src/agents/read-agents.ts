import type { Page, PageQuery } from '@berth/ports'
import type { Runner } from '../runs/runner.ts'
import type { AgentRegistry, RegisteredAgent } from './registry.ts'

export interface ReadAgentsDeps {
  readonly agents: AgentRegistry
  readonly runner: Runner
}

/** Reads of agents for the API. @throws AppError `agent-not-found` */
export interface ReadAgents {
  list(page: PageQuery): Page<AgentResource>
  get(agentId: string): AgentResource
  state(agentId: string): AgentStateResource
}

export function createReadAgents({ agents, runner }: ReadAgentsDeps): ReadAgents {
  return {
    list({ limit, cursor, order }) {
      const all = order === 'asc' ? agents.list() : agents.list().toReversed()
      const start = cursor === undefined ? 0 : all.findIndex(({ id }) => (order === 'asc' ? id > cursor : id < cursor))
      const items = start === -1 ? [] : all.slice(start, start + limit)
      const last = items.at(-1)
      return {
        items: items.map(toResource),
        nextCursor: last !== undefined && last !== all.at(-1) ? last.id : null,
      }
    },
    get: (agentId) => toResource(agents.get(agentId)),
    state(agentId) {
      const { id, concurrency } = agents.get(agentId)
      return { id, concurrency, ...runner.countsOf(id) }
    },
  }
}

const toResource = (agent: RegisteredAgent) => {
  const { id, description, concurrency, onBusy, recovery, maxAttempts, timeoutMs, tags } = agent
  return { id, description, concurrency, onBusy, recovery, maxAttempts, timeoutMs, tags: [...tags] }
}

export type AgentResource = ReturnType<typeof toResource>

export interface AgentStateResource {
  readonly id: string
  readonly concurrency: RegisteredAgent['concurrency']
  readonly running: number
  readonly queued: number
}
