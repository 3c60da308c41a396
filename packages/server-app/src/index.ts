export type {
  AgentContext,
  AgentEvent,
  AgentRegistration,
  RunContext,
  WorkflowRegistration,
} from '@berth/core'
export { type ServerConfig, type ServerConfigInput, ServerConfigSchema } from '@berth/protocol'
export type { Adapters } from './adapters.ts'
export type { BerthServer } from './berth-server.ts'
export { type BerthConfig, defineConfig, type Hooks, parseConfig } from './config.ts'
export { createServer, type ServerOptions } from './create-server.ts'
export { openTokenAdmin, type TokenAdmin } from './token-admin.ts'
export { version } from './version.ts'
