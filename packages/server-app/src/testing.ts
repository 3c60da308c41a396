export type { ChatRun } from './testing/chat-runs.ts'
export type { CrashPoint } from './testing/crash-points.ts'
export {
  type AnyChatMessage,
  type MessageOf,
  type OpenChatOptions,
  openChat,
  type TestChat,
  type TestFile,
  type ToolNameOf,
} from './testing/open-chat.ts'
export { type RunAgentOptions, runAgent, runWorkflow, type TestRun } from './testing/run-agent.ts'
