export type {
  ApprovalItem,
  ChildItem,
  CustomItem,
  DataItem,
  FileItem,
  LogEvent,
  MessageItem,
  ReasoningItem,
  SourceItem,
  TextItem,
  ToolItem,
  Transcript,
  TranscriptItem,
} from '@perdure/core'
export { beginFold, type FoldState, foldEvent, foldLog, outputText, transcriptOf } from '@perdure/core'
export { createAgUiProjector } from './ag-ui/projector.ts'
export { type ChatSocket, type ChatSocketDeps, createChatSocket, type SocketHttpRequest } from './ai-sdk/chat-socket.ts'
export { createAiSdkProjector } from './ai-sdk/projector.ts'
export { offeredAgent } from './chat/offered-agent.ts'
export { createProtocols, type ProtocolsDeps } from './create-protocols.ts'
export type { McpCall } from './mcp/mcp-call.ts'
export type { McpServer, McpServerDeps } from './mcp/mcp-server.ts'
export { type CompletionProjector, createCompletionProjector } from './openai/completion-projector.ts'
export type { OpenaiDeps } from './openai/openai-call.ts'
export { createResponseProjector, type ResponseProjector } from './openai/response-projector.ts'
export type { Frame, Projector, RunView } from './projection.ts'
