export {
  type DivergenceOptions,
  type OnDivergence,
  type RecordedModel,
  type RecordedModelOptions,
  type RecordedToolsOptions,
  type RecordingSource,
  type RunDivergence,
  type RunWithEvents,
  recordedModel,
  recordedTools,
} from '@perdure/ai-sdk/recording'
export type { ApprovalResource, RunRequestBody, RunResource, SubmittedDecision } from '@perdure/core'
export {
  type AnyChatMessage,
  type ChatRun,
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
