import {
  type AbortRun,
  type AnswerCache,
  type ConfiguredMcpServer,
  type CreateRunServices,
  createMcp,
  createMcpService,
  createRunSkills,
  createSessionService,
  createSessions,
  createSkills,
  joinSkillStores,
  type PhaseHolder,
  type Recall,
  type RenderEnvelope,
} from '@berth/core'
import type { McpClient, SkillStore, Storage, UnitOfWork } from '@berth/ports'
import type { ServerConfig } from '@berth/protocol'
import type { Adapters } from './adapters.ts'
import type { Attribution } from './attribution.ts'

export interface ServicesDeps extends Pick<Adapters, 'clock' | 'ids' | 'digest' | 'logger' | 'meter'> {
  readonly config: ServerConfig
  readonly storage: Storage
  readonly unitOfWork: UnitOfWork
  readonly mcp: McpClient
  readonly skills: SkillStore
  readonly registeredSkills: SkillStore
  readonly mcpServers: readonly ConfiguredMcpServer[]
  readonly answers: AnswerCache
  readonly recall: Recall
  readonly render: RenderEnvelope
  readonly phase: PhaseHolder
  readonly outside: Attribution['outside']
  readonly basePath: string
  readonly idempotencyTtlMs: number
}

/** What the server offers besides running code, wired once: to that code, and to the edges. */
export function createServices(deps: ServicesDeps) {
  const { config, storage, answers, mcp, outside } = deps
  const shared = { ...storage, ...deps }
  const skills = joinSkillStores([deps.registeredSkills, deps.skills])
  // What a server sends later is nothing that the run which has connected to it left behind.
  const mcpClient: McpClient = {
    ...mcp,
    tools: (endpoint) => outside(() => mcp.tools(endpoint)),
    call: (endpoint, call) => outside(() => mcp.call(endpoint, call)),
  }
  const servers = {
    ...{ configured: deps.mcpServers, mcpServers: storage.mcpServers, mcpClient },
    allowHosts: config.mcp.allowHosts,
  }
  const sessionOf = createSessionService({ ...shared, maxResultBytes: config.runs.maxResultBytes })
  const mcpOf = createMcpService(servers)
  const forRuns: CreateRunServices = (caller) => ({
    session: sessionOf(caller),
    skills: createRunSkills({ skills }, caller),
    mcp: mcpOf(caller),
  })

  return {
    forRuns,
    forEdges: ({ abortRun }: { readonly abortRun: AbortRun }) => ({
      ...createSessions({ ...shared, abortRun, answers }),
      ...createSkills({ ...shared, skills, registered: deps.registeredSkills }),
      ...createMcp({ ...shared, ...servers }),
    }),
  }
}
