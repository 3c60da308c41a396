import {
  type AbortRun,
  type ConfiguredMcpServer,
  type CreateRunServices,
  createConsolidator,
  createMcp,
  createMcpService,
  createMemory,
  createRunSkills,
  createSessionService,
  createSessions,
  createSkills,
  type EventHub,
  joinSkillStores,
  type PhaseHolder,
  type Recall,
  type RenderEnvelope,
  withMcpSpans,
} from '@perdure/core'
import type { ConsolidatorPhases, Embedder, McpClient, SkillStore, Storage } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import type { Adapters } from './adapters.ts'
import type { Attribution } from './attribution.ts'

type Tools = Pick<Adapters, 'clock' | 'timers' | 'ids' | 'digest' | 'logger' | 'meter' | 'tracer'>

export interface ServicesDeps extends Omit<Storage, 'status' | 'close' | 'mcpServers'>, Tools {
  readonly config: ServerConfig
  readonly hub: EventHub
  /** Those bound over REST. */
  readonly boundServers: Storage['mcpServers']
  readonly embedder: Embedder | undefined
  readonly phases: Partial<ConsolidatorPhases>
  readonly mcp: McpClient
  readonly skills: SkillStore
  readonly registeredSkills: SkillStore
  readonly mcpServers: readonly ConfiguredMcpServer[]
  readonly recall: Recall
  readonly render: RenderEnvelope
  readonly phase: PhaseHolder
  readonly outside: Attribution['outside']
  readonly basePath: string
  readonly idempotencyTtlMs: number
}

/** What the server offers besides running code, wired once: to that code, and to the edges. */
export function createServices(deps: ServicesDeps) {
  const { config, mcp, outside, embedder } = deps
  const memory = createMemory({ ...deps, embedder, limits: config.memory })
  const consolidator = createConsolidator({
    ...{ ...deps, decisions: memory.decisions, given: deps.phases, limits: config.consolidator },
  })
  const skills = joinSkillStores([deps.registeredSkills, deps.skills])
  // What a server sends later is nothing that the run which has connected to it left behind.
  const unattributed: McpClient = {
    ...mcp,
    tools: (endpoint) => outside(() => mcp.tools(endpoint)),
    call: (endpoint, call) => outside(() => mcp.call(endpoint, call)),
  }
  const mcpClient = withMcpSpans(unattributed, deps.tracer)
  const servers = {
    ...{ configured: deps.mcpServers, mcpServers: deps.boundServers, mcpClient },
    allowed: { hosts: config.mcp.allowHosts, headersRefs: config.mcp.allowHeadersRefs },
  }
  const sessionOf = createSessionService({ ...deps, maxResultBytes: config.runs.maxResultBytes })
  const mcpOf = createMcpService(servers)
  const forRuns: CreateRunServices = (caller) => ({
    session: sessionOf(caller),
    memory: memory.ofRun(caller),
    skills: createRunSkills({ skills }, caller),
    mcp: mcpOf(caller),
  })

  return {
    ...{ forRuns, memory, consolidator, daemons: [...memory.daemons, ...consolidator.daemons] },
    forEdges: ({ abortRun }: { readonly abortRun: AbortRun }) => ({
      ...createSessions({ ...deps, abortRun }),
      ...createSkills({ ...deps, skills, registered: deps.registeredSkills }),
      ...createMcp({ ...deps, ...servers }),
      ...{ ...memory, ...consolidator },
    }),
  }
}
