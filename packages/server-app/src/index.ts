export {
  type AgentContext,
  type AgentEvent,
  type AgentRegistration,
  type ChatInput,
  type ChatMessage,
  type ChatPart,
  type ChatTool,
  type ClientToolCall,
  classifyProviderResponse,
  createRetry,
  defineAgent,
  defineWorkflow,
  type FallbackCandidate,
  type FallbackOptions,
  fallback,
  type InteropOptions,
  NonRetryableError,
  ProviderError,
  type ProviderErrorOptions,
  type ProviderResponse,
  type Retry,
  type RetryOptions,
  type RunContext,
  type StepOptions,
  type ToolCall,
  ToolError,
  type ToolErrorOptions,
  type ToolOutcome,
  type TriggerRegistration,
  type WorkflowRegistration,
} from '@perdure/core'
export type { InMemorySkill } from '@perdure/in-memory'
export { type ServerConfig, type ServerConfigInput, ServerConfigSchema } from '@perdure/protocol'
export { type DefinedConfig, defineConfig, type PerdureConfig, parseConfig } from './config.ts'
export { createServer } from './create-server.ts'
export type { EmbeddedServer, RequestInfo } from './embedding/entry.ts'
export type { Caller } from './embedding/in-process-client.ts'
export type { Hooks } from './hooks.ts'
export type { Listening, PerdureServer, Reachable } from './perdure-server.ts'
export { retry } from './retry.ts'
export type { ServerOptions } from './server-options.ts'
export type { Adapters } from './start/adapters.ts'
export { type AuditRestore, openAuditRestore } from './start/audit-restore.ts'
export { type DatabaseInspection, inspectDatabase, migrateDatabase } from './start/database-admin.ts'
export type { McpServerRegistration } from './start/mcp-servers.ts'
export { type Move, type Moved, type MoveToPostgres, moveToPostgres } from './start/move-to-postgres.ts'
export { auditEncryption, storageEncryption } from './start/storage-encryption.ts'
export { openTokenAdmin, type TokenAdmin } from './start/token-admin.ts'
export type { WebhookRegistration } from './start/webhook-endpoints.ts'
export { type RunAgentOptions, runAgent, runWorkflow, type TestRun } from './testing/run-agent.ts'
export { version } from './version.ts'
