import type { AgentRegistration, PriceUsage, TriggerRegistration, WorkflowRegistration } from '@perdure/core'
import type { InMemorySkill } from '@perdure/in-memory'
import type { ConsolidatorPhases, Embedder } from '@perdure/ports'
import type { ServerConfigInput } from '@perdure/protocol'
import type { Hooks } from './hooks.ts'
import type { Adapters } from './start/adapters.ts'
import type { McpServerRegistration } from './start/mcp-servers.ts'
import type { WebhookRegistration } from './start/webhook-endpoints.ts'

export interface ServerOptions {
  readonly config?: ServerConfigInput
  readonly agents?: readonly AgentRegistration[]
  readonly workflows?: readonly WorkflowRegistration[]
  /** Rules that start runs. A trigger that no server declares any more fires until `retention.undeclaredSeconds` have passed. */
  readonly triggers?: readonly TriggerRegistration[]
  /** Skills defined in code. They take precedence over skills in `config.skills.directories`. */
  readonly skills?: readonly InMemorySkill[]
  readonly mcpServers?: readonly McpServerRegistration[]
  /** Endpoints outside the server that receive events. One that no server declares any more is removed after `retention.undeclaredSeconds`, with its deliveries. */
  readonly webhookEndpoints?: readonly WebhookRegistration[]
  /** Enables search by meaning in addition to search by words. */
  readonly embedder?: Embedder
  /** Returns the cost of a model call, in place of `config.models.prices`. */
  readonly priceUsage?: PriceUsage
  /** Replaces default phases, which use no model. */
  readonly consolidator?: Partial<ConsolidatorPhases>
  readonly hooks?: Hooks
  /** Replaces adapters. The server never closes an adapter that was passed in. */
  readonly adapters?: Partial<Adapters>
  /** Base of relative paths in the configuration. Defaults to the working directory. */
  readonly configDir?: string
  /** Where a field of the configuration is set, such as a file and a line. The web console shows it. */
  readonly originOf?: (path: string) => string | Promise<string>
}
