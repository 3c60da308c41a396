import { accessCommands } from './access-commands.ts'
import { agentCommands } from './agent-commands.ts'
import { approvalCommands } from './approval-commands.ts'
import { auditCommands } from './audit-commands.ts'
import type { CommandSpec } from './command-spec.ts'
import { configCommands } from './config-commands.ts'
import { contextCommands } from './context-commands.ts'
import { deployCommands } from './deploy-commands.ts'
import { helpCommands } from './help-commands.ts'
import { loadCommands } from './load-commands.ts'
import { migrationCommands } from './migration-commands.ts'
import { operationCommands } from './operation-commands.ts'
import { runCommands } from './run-commands.ts'
import { serviceCommands } from './service-commands.ts'
import { servingCommands } from './serving-commands.ts'
import { sessionCommands } from './session-commands.ts'
import { storageCommands } from './storage-commands.ts'
import { triggerCommands } from './trigger-commands.ts'
import { workflowCommands } from './workflow-commands.ts'

/** Every command, in the order of the help. */
export const COMMANDS: readonly CommandSpec[] = [
  ...servingCommands,
  ...configCommands,
  ...accessCommands,
  ...migrationCommands,
  ...storageCommands,
  ...deployCommands,
  ...agentCommands,
  ...runCommands,
  ...sessionCommands,
  ...workflowCommands,
  ...approvalCommands,
  ...triggerCommands,
  ...auditCommands,
  ...serviceCommands,
  ...operationCommands,
  ...loadCommands,
  ...contextCommands,
  ...helpCommands,
]

/** What stands beside the first word of several commands. */
export const COMMAND_GROUPS: Readonly<Record<string, string>> = {
  config: 'show and check the configuration',
  secrets: 'make and check secrets',
  token: 'create, list and revoke tokens, beside a running server too',
  migrate: 'look at and apply storage migrations',
  backup: 'copy the database, beside a running server too',
  storage: 'look after the database file',
  deploy: 'files for proxies, supervisors and containers',
  agents: 'list and run agents',
  runs: 'look at runs and steer them',
  sessions: 'look at sessions',
  workflows: 'run workflows and look at their threads',
  approvals: 'decide what runs wait for',
  triggers: 'look at triggers and steer them',
  audit: 'read and verify the audit chain',
  memory: 'search and forget facts',
  skills: 'look at skills',
  mcp: 'look at MCP servers',
  events: 'follow events',
  context: 'remember servers',
}
