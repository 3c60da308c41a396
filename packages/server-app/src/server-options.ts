import type { AgentRegistration, TriggerRegistration, WorkflowRegistration } from '@perdure/core'
import type { InMemorySkill } from '@perdure/in-memory'
import type { ConsolidatorPhases, Embedder } from '@perdure/ports'
import type { ServerConfigInput } from '@perdure/protocol'
import type { Adapters } from './adapters.ts'
import type { Hooks } from './hooks.ts'
import type { McpServerRegistration } from './mcp-servers.ts'

export interface ServerOptions {
  readonly config?: ServerConfigInput
  readonly agents?: readonly AgentRegistration[]
  readonly workflows?: readonly WorkflowRegistration[]
  /** Rules by which runs start; those of an earlier start that are gone become orphans. */
  readonly triggers?: readonly TriggerRegistration[]
  /** Skills that have no folder; they come before those of `config.skills.directories`. */
  readonly skills?: readonly InMemorySkill[]
  readonly mcpServers?: readonly McpServerRegistration[]
  /** Lets search find what means the same in other words. */
  readonly embedder?: Embedder
  /** Phases of one's own in place of the defaults that need no model. */
  readonly consolidator?: Partial<ConsolidatorPhases>
  readonly hooks?: Hooks
  /** Any adapter, to swap it. What is passed in is never closed by the server. */
  readonly adapters?: Partial<Adapters>
  /** What relative paths in the configuration start from; the working directory when missing. */
  readonly configDir?: string
}
