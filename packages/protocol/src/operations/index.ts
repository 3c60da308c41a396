import type { Operation, OperationTable } from '../operation.ts'
import { PROTOCOL_TABLES } from '../protocols/index.ts'
import { agentOperations } from './agents.ts'
import { approvalOperations } from './approvals.ts'
import { auditOperations } from './audit.ts'
import { chatOperations } from './chats.ts'
import { consoleOperations } from './console.ts'
import { consolidatorOperations } from './consolidator.ts'
import { docsOperations } from './docs.ts'
import { fileOperations } from './files.ts'
import { healthOperations } from './health.ts'
import { hookOperations } from './hooks.ts'
import { mcpOperations } from './mcp.ts'
import { memoryOperations } from './memory.ts'
import { metricOperations } from './metrics.ts'
import { namedEventOperations } from './named-events.ts'
import { nodeOperations } from './nodes.ts'
import { realtimeOperations } from './realtime.ts'
import { runOperations } from './runs.ts'
import { sessionOperations } from './sessions.ts'
import { skillOperations } from './skills.ts'
import { subjectOperations } from './subjects.ts'
import { tokenOperations } from './tokens.ts'
import { triggerOperations } from './triggers.ts'
import { webhookOperations } from './webhooks.ts'
import { workflowOperations } from './workflows.ts'

/** The interface keeps the declarations small: an inferred type would repeat every schema. */
interface OperationTables {
  readonly agents: typeof agentOperations
  readonly runs: typeof runOperations
  readonly approvals: typeof approvalOperations
  readonly workflows: typeof workflowOperations
  readonly sessions: typeof sessionOperations
  readonly chats: typeof chatOperations
  readonly files: typeof fileOperations
  readonly realtime: typeof realtimeOperations
  readonly memory: typeof memoryOperations
  readonly consolidator: typeof consolidatorOperations
  readonly skills: typeof skillOperations
  readonly mcp: typeof mcpOperations
  readonly tokens: typeof tokenOperations
  readonly subjects: typeof subjectOperations
  readonly audit: typeof auditOperations
  readonly triggers: typeof triggerOperations
  readonly webhooks: typeof webhookOperations
  readonly hooks: typeof hookOperations
  readonly events: typeof namedEventOperations
  readonly health: typeof healthOperations
  readonly nodes: typeof nodeOperations
  readonly metrics: typeof metricOperations
  readonly docs: typeof docsOperations
  readonly console: typeof consoleOperations
}

/** The operations of the server's own interface, by resource group. */
export const OPERATION_TABLES: OperationTables = {
  agents: agentOperations,
  runs: runOperations,
  approvals: approvalOperations,
  workflows: workflowOperations,
  sessions: sessionOperations,
  chats: chatOperations,
  files: fileOperations,
  realtime: realtimeOperations,
  memory: memoryOperations,
  consolidator: consolidatorOperations,
  skills: skillOperations,
  mcp: mcpOperations,
  tokens: tokenOperations,
  subjects: subjectOperations,
  audit: auditOperations,
  triggers: triggerOperations,
  webhooks: webhookOperations,
  hooks: hookOperations,
  events: namedEventOperations,
  health: healthOperations,
  nodes: nodeOperations,
  metrics: metricOperations,
  docs: docsOperations,
  console: consoleOperations,
}

export type OperationGroup = keyof typeof OPERATION_TABLES

/** Every operation, by group. Within a group, a literal path precedes a parameter that would match it. */
export const ALL_TABLES: Readonly<Record<string, OperationTable>> = { ...OPERATION_TABLES, ...PROTOCOL_TABLES }

export const OPERATIONS: readonly Operation[] = Object.values(ALL_TABLES).flatMap((table) => Object.values(table))
