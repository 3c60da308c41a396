export { createAgUiProjector } from './ag-ui/projector.ts'
export { createAiSdkProjector } from './ai-sdk/projector.ts'
export { createProtocols, type ProtocolsDeps } from './create-protocols.ts'
export { beginFold, type FoldState, foldEvent, foldLog, transcriptOf } from './fold/fold.ts'
export type { LogEvent } from './fold/log-event.ts'
export { outputText } from './fold/output-text.ts'
export type {
  ApprovalItem,
  ChildItem,
  CustomItem,
  DataItem,
  FileItem,
  MessageItem,
  ReasoningItem,
  SourceItem,
  TextItem,
  ToolItem,
  Transcript,
  TranscriptItem,
} from './fold/transcript.ts'
export type { McpCall } from './mcp/mcp-call.ts'
export type { McpServer, McpServerDeps } from './mcp/mcp-server.ts'
export { type CompletionProjector, createCompletionProjector } from './openai/completion-projector.ts'
export type { OpenaiDeps } from './openai/openai-call.ts'
export { createResponseProjector, type ResponseProjector } from './openai/response-projector.ts'
export type { Frame, Projector, RunView } from './projection.ts'
