import {
  type AbortRun,
  type ConfiguredMcpServer,
  type CreateRunServices,
  createChats,
  createConsolidator,
  createFiles,
  createManageNodes,
  createMcp,
  createMcpService,
  createMemory,
  createNodeWatch,
  createRunSkills,
  createSessionService,
  createSessions,
  createSkills,
  createSubjects,
  type EventHub,
  joinSkillStores,
  type NodeWatch,
  type PhaseHolder,
  type Recall,
  type RenderEnvelope,
  type RunTargets,
  withMcpSpans,
} from '@perdure/core'
import type {
  BlobStore,
  ConsolidatorPhases,
  Duty,
  Embedder,
  IdGenerator,
  McpClient,
  RemoteFiles,
  SkillStore,
  Storage,
  YieldTurn,
} from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import type { Adapters } from '../start/adapters.ts'
import type { Attribution } from './attribution.ts'
import { unattributedMcpClient } from './unattributed.ts'

type Tools = Pick<Adapters, 'clock' | 'timers' | 'digest' | 'logger' | 'meter' | 'tracer'> & {
  readonly ids: IdGenerator
}

export interface ServicesDeps extends Omit<Storage, 'status' | 'close' | 'mcpServers'>, Tools {
  readonly config: ServerConfig
  readonly hub: EventHub
  /** MCP servers added over REST. */
  readonly boundServers: Storage['mcpServers']
  readonly embedder: Embedder | undefined
  readonly phases: Partial<ConsolidatorPhases>
  readonly blobs: BlobStore
  readonly remoteFiles: RemoteFiles
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
  /** The name of this process in its cluster. */
  readonly executor: string | undefined
  readonly isMine: (duty: Duty) => boolean
  readonly yieldTurn: YieldTurn
}

export type Services = ReturnType<typeof createServices>

/** Connects sessions, memory, skills and MCP to the code of runs (`forRuns`) and to HTTP and WebSocket (`forEdges`). */
export function createServices(deps: ServicesDeps) {
  const { config, mcp, outside, embedder } = deps
  const memory = createMemory({ ...deps, embedder, limits: config.memory })
  const consolidator = createConsolidator({
    ...deps,
    decisions: memory.decisions,
    phaseOverrides: deps.phases,
    limits: config.consolidator,
  })
  const files = createFiles({ ...deps, limits: config.files })
  const skills = joinSkillStores([deps.registeredSkills, deps.skills])
  const servers = {
    configured: deps.mcpServers,
    mcpServers: deps.boundServers,
    mcpClient: withMcpSpans(unattributedMcpClient(mcp, outside), deps.tracer),
    allowed: { hosts: config.mcp.allowHosts, headersRefs: config.mcp.allowHeadersRefs },
  }
  const sessionOf = createSessionService({
    ...{ ...deps, resultFiles: files.resultFiles },
    maxResultBytes: config.runs.maxResultBytes,
  })
  const mcpOf = createMcpService(servers)
  const nodeWatch: NodeWatch = createNodeWatch(deps)
  const forRuns: CreateRunServices = (caller) => ({
    session: sessionOf(caller),
    memory: memory.forRun(caller),
    skills: createRunSkills({ skills }, caller),
    mcp: mcpOf(caller),
    files: files.forRun(caller),
  })

  return {
    forRuns,
    resultFiles: files.resultFiles,
    memory,
    consolidator,
    nodeWatch,
    daemons: [
      files.fileSweep,
      ...memory.daemons,
      ...consolidator.daemons,
      ...(deps.nodes === undefined ? [] : [nodeWatch.loop]),
    ],
    forEdges: ({ abortRun, targets }: { readonly abortRun: AbortRun; readonly targets: RunTargets }) => {
      const sessions = createSessions({ ...deps, abortRun, readFiles: files.useCases.readFiles })
      return {
        ...sessions,
        ...createChats({ ...deps, targets, deleteSession: sessions.deleteSession }),
        ...files.useCases,
        ...createSkills({ ...deps, skills, registered: deps.registeredSkills }),
        ...createMcp({ ...deps, ...servers }),
        ...createSubjects({
          ...{ ...deps, abortRun, readFiles: files.useCases.readFiles },
          ...{ perSubject: config.runs.perSubject, maxFileBytes: config.files.maxBytesPerOwner },
        }),
        manageNodes: createManageNodes(deps),
        ...memory,
        ...consolidator,
      }
    },
  }
}
