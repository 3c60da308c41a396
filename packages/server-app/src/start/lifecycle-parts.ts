import type {
  AgentRegistry,
  ConfiguredMcpServer,
  ConfiguredWebhook,
  PhaseHolder,
  PriceUsage,
  TriggerRegistration,
  WorkflowRegistry,
} from '@perdure/core'
import type { ConsolidatorPhases, Embedder, SkillStore } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import type { Attribution } from '../compose/attribution.ts'
import type { Hooks } from '../hooks.ts'
import type { ServerOptions } from '../server-options.ts'
import type { Adapters } from './adapters.ts'
import type { ScoringBinding } from './registries.ts'

export interface LifecycleParts {
  readonly config: ServerConfig
  readonly agents: AgentRegistry
  readonly workflows: WorkflowRegistry
  readonly triggers: readonly TriggerRegistration[]
  /** Missing if no registration can have scorers. */
  readonly scoring?: ScoringBinding | undefined
  readonly attribution: Attribution
  readonly embedder: Embedder | undefined
  readonly priceUsage?: PriceUsage | undefined
  readonly consolidator: Partial<ConsolidatorPhases>
  readonly phase: PhaseHolder
  readonly registeredSkills: SkillStore
  readonly mcpServers: readonly ConfiguredMcpServer[]
  readonly webhookEndpoints: readonly ConfiguredWebhook[]
  readonly hooks: Hooks
  readonly given: Partial<Adapters>
  readonly configDir: string
  readonly originOf: ServerOptions['originOf']
}
