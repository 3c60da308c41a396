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
