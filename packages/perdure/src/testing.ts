export type { ApprovalResource, RunRequestBody, RunResource, SubmittedDecision } from '@perdure/core'
export {
  type AnyChatMessage,
  type CrashPoint,
  type MessageOf,
  type OpenChatOptions,
  openChat,
  type RunAgentOptions,
  runAgent,
  runWorkflow,
  type TestChat,
  type TestFile,
  type TestRun,
  type ToolNameOf,
} from '@perdure/server-app/testing'
