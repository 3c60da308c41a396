import type { ApprovalStatus } from '@perdure/protocol'

/** What a conversation shows of a run, in the order in which it begins. */
export type MessagePart =
  | TextPart
  | ToolPart
  | ApprovalPart
  | FilePart
  | SourcePart
  | DataPart
  | SentPart
  | ChildPart
  | WholePart

export interface TextPart {
  readonly kind: 'text' | 'reasoning'
  readonly id: string
  readonly text: string
}

/** A stored file with the result of a tool, in place of which its event has a reference. */
export interface ResultFile {
  readonly url: string
  readonly mediaType: string
  readonly name: string | undefined
}

export interface ToolPart {
  readonly kind: 'tool'
  readonly id: string
  readonly name: string
  readonly title?: string | undefined
  /** The arguments; while the model writes them, the text so far. */
  readonly args: unknown
  readonly state: 'writing' | 'called' | 'executing' | 'waiting' | 'done' | 'failed' | 'denied'
  /** The result or the error; `undefined` until there is one. */
  readonly answer: unknown
  /** The file with the whole result. */
  readonly file?: ResultFile | undefined
  /** Whether the client performs the tool and sends its result. */
  readonly isClient: boolean
  readonly approvalId?: string | undefined
}

export interface ApprovalPart {
  readonly kind: 'approval'
  readonly id: string
  readonly name: string
  readonly title?: string | undefined
  readonly payload: unknown
  readonly state: ApprovalStatus
  readonly by?: string | undefined
  readonly reason?: string | undefined
  /** The tool call of the same run that waits for it. The call shows the approval. */
  readonly toolCallId?: string | undefined
}

export interface FilePart {
  readonly kind: 'file'
  readonly id: string
  readonly mediaType: string
  readonly url?: string | undefined
  /** The content in base64, if the file has no URL. */
  readonly data?: string | undefined
  readonly name?: string | undefined
}

export interface SourcePart {
  readonly kind: 'source'
  readonly id: string
  readonly url?: string | undefined
  readonly title?: string | undefined
}

/** Data for a user interface, and events with a type of the agent. */
export interface DataPart {
  readonly kind: 'data'
  readonly id: string
  readonly name: string
  readonly data: unknown
}

/** A message that the user has sent while the agent worked. */
export interface SentPart {
  readonly kind: 'sent'
  readonly id: string
  readonly content: unknown
}

export interface ChildPart {
  readonly kind: 'child'
  readonly id: string
  readonly name: string
  readonly status: string | undefined
}

/** A whole message, for example of another agent. */
export interface WholePart {
  readonly kind: 'message'
  readonly id: string
  readonly message: unknown
}
