import type { Operation, OperationTable } from '../operation.ts'
import { agUiOperations } from './ag-ui.ts'
import { agentOperations } from './agents.ts'
import { aiSdkOperations } from './ai-sdk.ts'
import { approvalOperations } from './approvals.ts'
import { auditOperations } from './audit.ts'
import { consoleOperations } from './console.ts'
import { consolidatorOperations } from './consolidator.ts'
import { docsOperations } from './docs.ts'
import { healthOperations } from './health.ts'
import { mcpOperations } from './mcp.ts'
import { mcpServerOperations } from './mcp-server.ts'
import { memoryOperations } from './memory.ts'
import { metricOperations } from './metrics.ts'
import { namedEventOperations } from './named-events.ts'
import { nodeOperations } from './nodes.ts'
import { openaiOperations } from './openai.ts'
import { realtimeOperations } from './realtime.ts'
import { runOperations } from './runs.ts'
import { sessionOperations } from './sessions.ts'
import { skillOperations } from './skills.ts'
import { tokenOperations } from './tokens.ts'
import { triggerOperations } from './triggers.ts'
import { webhookOperations } from './webhooks.ts'
import { workflowOperations } from './workflows.ts'

/** Every operation, by resource group. Within a group, a literal path precedes a parameter that would match it. */
export const OPERATION_TABLES = {
  agents: agentOperations,
  runs: runOperations,
  approvals: approvalOperations,
  workflows: workflowOperations,
  sessions: sessionOperations,
  'ai-sdk': aiSdkOperations,
  'ag-ui': agUiOperations,
  openai: openaiOperations,
  realtime: realtimeOperations,
  memory: memoryOperations,
  consolidator: consolidatorOperations,
  skills: skillOperations,
  mcp: mcpOperations,
  'mcp-server': mcpServerOperations,
  tokens: tokenOperations,
  audit: auditOperations,
  triggers: triggerOperations,
  webhooks: webhookOperations,
  events: namedEventOperations,
  health: healthOperations,
  nodes: nodeOperations,
  metrics: metricOperations,
  docs: docsOperations,
  console: consoleOperations,
} as const satisfies Record<string, OperationTable>

export type OperationGroup = keyof typeof OPERATION_TABLES

export const OPERATIONS: readonly Operation[] = Object.values<OperationTable>(OPERATION_TABLES).flatMap((table) =>
  Object.values(table),
)
