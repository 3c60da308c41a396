import { agUiSchemas } from './ag-ui.ts'
import { agentSchemas } from './agents.ts'
import { aiSdkSchemas } from './ai-sdk.ts'
import { approvalSchemas } from './approvals.ts'
import { auditSchemas } from './audit.ts'
import { budgetSchemas } from './budgets.ts'
import { consoleSchemas } from './console.ts'
import { consolidatorSchemas } from './consolidator.ts'
import { eventSchemas } from './events.ts'
import { extensionSchemas } from './extensions.ts'
import { healthSchemas } from './health.ts'
import { mcpMessageSchemas } from './mcp-message.ts'
import { memorySchemas } from './memory.ts'
import type { NamedSchemas } from './named-schema.ts'
import { nodeSchemas } from './nodes.ts'
import { openaiSchemas } from './openai.ts'
import { runSchemas } from './runs.ts'
import { sessionSchemas } from './sessions.ts'
import { tokenSchemas } from './tokens.ts'
import { triggerSchemas } from './triggers.ts'
import { webhookSchemas } from './webhooks.ts'
import { workflowSchemas } from './workflows.ts'

/** Every schema that the OpenAPI document lists by name, with the descriptions of its members and an example. */
export const SCHEMAS: NamedSchemas = {
  ...agentSchemas,
  ...runSchemas,
  ...budgetSchemas,
  ...approvalSchemas,
  ...workflowSchemas,
  ...sessionSchemas,
  ...aiSdkSchemas,
  ...agUiSchemas,
  ...openaiSchemas,
  ...mcpMessageSchemas,
  ...memorySchemas,
  ...consolidatorSchemas,
  ...extensionSchemas,
  ...tokenSchemas,
  ...auditSchemas,
  ...triggerSchemas,
  ...webhookSchemas,
  ...eventSchemas,
  ...healthSchemas,
  ...nodeSchemas,
  ...consoleSchemas,
}
