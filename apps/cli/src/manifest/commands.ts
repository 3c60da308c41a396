import { accessCommands } from './access-commands.ts'
import { agentCommands } from './agent-commands.ts'
import { approvalCommands } from './approval-commands.ts'
import { auditCommands } from './audit-commands.ts'
import { chatCommands } from './chat-commands.ts'
import type { CommandSpec } from './command-spec.ts'
import { configCommands } from './config-commands.ts'
import { contextCommands } from './context-commands.ts'
import { deployCommands } from './deploy-commands.ts'
import { evalCommands } from './eval-commands.ts'
import { helpCommands } from './help-commands.ts'
import { hookCommands } from './hook-commands.ts'
import { loadCommands } from './load-commands.ts'
import { migrationCommands } from './migration-commands.ts'
import { nodeCommands } from './node-commands.ts'
import { operationCommands } from './operation-commands.ts'
import { runCommands } from './run-commands.ts'
import { serviceCommands } from './service-commands.ts'
import { servingCommands } from './serving-commands.ts'
import { sessionCommands } from './session-commands.ts'
import { storageCommands } from './storage-commands.ts'
import { triggerCommands } from './trigger-commands.ts'
import { webhookCommands } from './webhook-commands.ts'
import { workflowCommands } from './workflow-commands.ts'

/** Every command, in the order help lists them. */
export const COMMANDS: readonly CommandSpec[] = [
  ...servingCommands,
  ...configCommands,
  ...accessCommands,
  ...migrationCommands,
  ...storageCommands,
  ...deployCommands,
  ...agentCommands,
  ...evalCommands,
  ...runCommands,
  ...sessionCommands,
  ...chatCommands,
  ...workflowCommands,
  ...approvalCommands,
  ...triggerCommands,
  ...webhookCommands,
  ...hookCommands,
  ...auditCommands,
  ...serviceCommands,
  ...nodeCommands,
  ...operationCommands,
  ...loadCommands,
  ...contextCommands,
  ...helpCommands,
]

/** Help text of each command group. */
export const COMMAND_GROUPS: Readonly<Record<string, string>> = {
  config: 'show and check the configuration',
  secrets: 'generate and check secrets',
  token: 'create, list, revoke and rotate tokens',
  subjects: 'show the usage of users, revoke their credentials, and export or delete their data',
  migrate: 'show and apply storage migrations',
  backup: 'back up the database, even while the server runs',
  storage: 'verify and compact the database file',
  deploy: 'print files for proxies, supervisors and containers',
  agents: 'list and run agents',
  runs: 'inspect, abort and resume runs',
  sessions: 'inspect sessions',
  chats: 'list, rename and delete the chats of an agent',
  workflows: 'run workflows and inspect their threads',
  approvals: 'list approvals, and approve or deny them',
  triggers: 'inspect, fire, enable and disable triggers',
  nodes: 'list and drain the servers of a cluster',
  hooks: 'inspect and replay deliveries from other services',
  webhooks: 'manage webhooks, and inspect or repeat their deliveries',
  audit: 'read, verify and export the audit chain',
  memory: 'search and delete facts',
  skills: 'list skills',
  mcp: 'list and test MCP servers',
  events: 'follow events',
  context: 'save servers and switch between them',
  docs: 'search the documentation',
}
