export type {
  ChatAgentDefinition,
  ChatAgentInput,
  ChatAgentSettings,
  ChatHistory,
  ChatRegistration,
  ChatTitle,
  Compactor,
  InferChatMessage,
  SummarizeOptions,
  ToolApproval,
  ToolApprovalDecision,
} from './agents/chat-types.ts'
export type { ConversationOptions } from './agents/conversation-options.ts'
export { agentOf, chatAgent, summarize } from './chat-agent.ts'
export { durable } from './durable.ts'
export type { Durable, DurableModel } from './durable-types.ts'
export type { HarnessAgentLike, HarnessRegistration, HarnessSession } from './harness/harness-types.ts'
export type { ToolApprovalType } from './tools/approval-policy.ts'
export { type DurableToolCall, toolCallOf } from './tools/tool-call.ts'
export { type ToolInputOf, type ToolOptions, toolOptions } from './tools/tool-options.ts'
