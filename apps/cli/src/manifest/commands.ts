import { agentsCommands } from './agents-commands.ts'
import { apiCommands } from './api-commands.ts'
import { approvalsCommands } from './approvals-commands.ts'
import { asyncapiCommands } from './asyncapi-commands.ts'
import { auditCommands } from './audit-commands.ts'
import { backupCommands } from './backup-commands.ts'
import { benchCommands } from './bench-commands.ts'
import { chatsCommands } from './chats-commands.ts'
import type { CommandGroup, CommandSpec } from './command-spec.ts'
import { completionCommands } from './completion-commands.ts'
import { configCommands } from './config-commands.ts'
import { consoleCommands } from './console-commands.ts'
import { contextCommands } from './context-commands.ts'
import { deployCommands } from './deploy-commands.ts'
import { devCommands } from './dev-commands.ts'
import { docsCommands } from './docs-commands.ts'
import { doctorCommands } from './doctor-commands.ts'
import { evalCommands } from './eval-commands.ts'
import { eventsCommands } from './events-commands.ts'
import { healthCommands } from './health-commands.ts'
import { helpCommands } from './help-commands.ts'
import { hooksCommands } from './hooks-commands.ts'
import { initCommands } from './init-commands.ts'
import { mcpCommands } from './mcp-commands.ts'
import { memoryCommands } from './memory-commands.ts'
import { migrateCommands } from './migrate-commands.ts'
import { nodesCommands } from './nodes-commands.ts'
import { openapiCommands } from './openapi-commands.ts'
import { restoreCommands } from './restore-commands.ts'
import { runsCommands } from './runs-commands.ts'
import { schemaCommands } from './schema-commands.ts'
import { secretsCommands } from './secrets-commands.ts'
import { serverCommands } from './server-commands.ts'
import { sessionsCommands } from './sessions-commands.ts'
import { skillsCommands } from './skills-commands.ts'
import { storageCommands } from './storage-commands.ts'
import { subjectsCommands } from './subjects-commands.ts'
import { tokenCommands } from './token-commands.ts'
import { topCommands } from './top-commands.ts'
import { triggersCommands } from './triggers-commands.ts'
import { upgradeCommands } from './upgrade-commands.ts'
import { versionCommands } from './version-commands.ts'
import { webhooksCommands } from './webhooks-commands.ts'
import { workflowsCommands } from './workflows-commands.ts'

/** The commands by their first word, in the order in which help lists them. The file of a group has the name of its word. */
export const COMMAND_GROUPS: Readonly<Record<string, CommandGroup>> = {
  init: initCommands,
  dev: devCommands,
  server: serverCommands,
  console: consoleCommands,
  health: healthCommands,
  doctor: doctorCommands,
  config: configCommands,
  secrets: secretsCommands,
  token: tokenCommands,
  subjects: subjectsCommands,
  upgrade: upgradeCommands,
  migrate: migrateCommands,
  backup: backupCommands,
  restore: restoreCommands,
  storage: storageCommands,
  deploy: deployCommands,
  agents: agentsCommands,
  eval: evalCommands,
  runs: runsCommands,
  sessions: sessionsCommands,
  chats: chatsCommands,
  workflows: workflowsCommands,
  approvals: approvalsCommands,
  triggers: triggersCommands,
  webhooks: webhooksCommands,
  hooks: hooksCommands,
  audit: auditCommands,
  memory: memoryCommands,
  skills: skillsCommands,
  mcp: mcpCommands,
  nodes: nodesCommands,
  events: eventsCommands,
  api: apiCommands,
  openapi: openapiCommands,
  asyncapi: asyncapiCommands,
  top: topCommands,
  bench: benchCommands,
  context: contextCommands,
  docs: docsCommands,
  schema: schemaCommands,
  completion: completionCommands,
  version: versionCommands,
  help: helpCommands,
}

export const COMMANDS: readonly CommandSpec[] = Object.values(COMMAND_GROUPS).flatMap(({ commands }) => commands)
