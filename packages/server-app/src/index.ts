export {
  type AgentDefinition,
  type AgentEvent,
  type AgentRegistration,
  type BudgetOptions,
  type ChatInput,
  type ChatMessage,
  type ChatPart,
  type ChatTool,
  type ClientToolCall,
  defineAgent,
  defineTrigger,
  defineWorkflow,
  type ModelAnswer,
  type ModelCall,
  NonRetryableError,
  type PriceUsage,
  type ProtocolError,
  type ProtocolOptions,
  type RunContext,
  type StallOptions,
  type StandardSchemaV1,
  type StepOptions,
  type ToolCall,
  ToolError,
  type ToolErrorOptions,
  type ToolOutcome,
  type TriggerRegistration,
  type WorkflowDefinition,
  type WorkflowRegistration,
} from '@perdure/core'
export type { InMemorySkill } from '@perdure/in-memory'
export {
  PerdureError,
  type PerdureErrorCode,
  type ServerConfig,
  type ServerConfigInput,
  ServerConfigSchema,
  StartError,
} from '@perdure/protocol'
export type { IncomingUpgrade, UpgradeSocket } from '@perdure/realtime'
export { type DefinedConfig, defineConfig, type PerdureConfig, parseConfig, type WorkflowsSection } from './config.ts'
export { createServer } from './create-server.ts'
export type { EmbeddedServer, RequestInfo } from './embedding/entry.ts'
export type { Caller } from './embedding/in-process-client.ts'
export type { Hooks } from './hooks.ts'
export type { Listening, PerdureServer, Reachable } from './perdure-server.ts'
export type { ServerOptions } from './server-options.ts'
export type { Adapters } from './start/adapters.ts'
export type { McpServerRegistration } from './start/mcp-servers.ts'
export { openTokenAdmin, type TokenAdmin } from './start/token-admin.ts'
export type { WebhookRegistration } from './start/webhook-endpoints.ts'
export { version } from './version.ts'
