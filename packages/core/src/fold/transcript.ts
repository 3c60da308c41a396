import type { ApprovalStatus } from '@perdure/protocol'
/** A block of text. Its `id` is unique in the run; a message can have several blocks. */
export interface TextItem {
  readonly kind: 'text'
  readonly id: string
  readonly messageId: string
  readonly text: string
  readonly isOpen: boolean
  /** Whether `text.start` opened the block, so that only `text.end` or the end of the continuation closes it. */
  readonly isExplicit: boolean
  /** How often the block started again, which withdrew its text. */
  readonly restarts: number
  readonly phase?: 'commentary'
  readonly citations?: readonly unknown[]
}

export interface ReasoningItem extends Omit<TextItem, 'kind' | 'phase' | 'citations'> {
  readonly kind: 'reasoning'
  readonly encrypted?: string
}

export type ToolStatus = 'calling' | 'called' | 'awaiting-approval' | 'executing' | 'done' | 'failed' | 'denied'

export interface ToolItem {
  readonly kind: 'tool'
  readonly id: string
  readonly name: string
  readonly title?: string
  /** The arguments as JSON text, as far as the model has written them. */
  readonly argsText: string
  /** The complete arguments. */
  readonly args?: unknown
  readonly executor: 'server' | 'client'
  /** How the agent declares the tool; missing for a call that the agent makes by itself. */
  readonly declared?: 'static' | 'dynamic'
  /** Whether it is known before the call begins that the server executes it. */
  readonly isOnServer?: true
  readonly status: ToolStatus
  /** Whether the call failed before its tool began, because no tool takes this input. */
  readonly isInvalid?: true
  readonly approvalId?: string
  /** The arguments with which it is executed, because a person has changed `args`. */
  readonly editedArgs?: unknown
  /** The result; while `isPreliminary`, a later one replaces it. */
  readonly result?: unknown
  readonly isPreliminary?: boolean
  readonly error?: { readonly kind: string; readonly message: string }
}

export interface ApprovalItem {
  readonly kind: 'approval'
  readonly id: string
  /** The run that asks: this run or one of its descendants. */
  readonly runId: string
  readonly name: string
  readonly title?: string
  readonly payload?: unknown
  readonly toolCallId?: string
  /** The decider may send other arguments. */
  readonly isEditable?: true
  /** The arguments with which the call was approved in place of those that were asked for. */
  readonly editedArgs?: unknown
  /** The callers that may decide: `user`, `staff` or a scope. */
  readonly assignee?: string
  readonly status: ApprovalStatus
  readonly by?: string
  readonly reason?: string
  readonly answer?: unknown
}

/** The members by which an agent describes a source. */
export const SOURCE_MEMBERS = ['url', 'title', 'mediaType', 'filename'] as const

export interface SourceItem {
  readonly kind: 'source'
  readonly id: string
  readonly url?: string
  readonly title?: string
  readonly mediaType?: string
  readonly filename?: string
}

export interface FileItem {
  readonly kind: 'file'
  readonly id: string
  readonly mediaType: string
  readonly url?: string
  readonly data?: string
  readonly name?: string
}

export interface DataItem {
  readonly kind: 'data'
  readonly id: string
  readonly name: string
  readonly data: unknown
}

export interface MessageItem {
  readonly kind: 'message'
  readonly id: string
  readonly message: unknown
}

/** A message that the user has sent while the run worked. */
export interface UserMessageItem {
  readonly kind: 'user-message'
  /** The run that the message would have started. */
  readonly id: string
  /** The input of that run. */
  readonly content: unknown
  /** Whether the run received it before it said anything. */
  readonly isFirst: boolean
}

export interface ChildItem {
  readonly kind: 'child'
  /** The id of the child run. */
  readonly id: string
  readonly agentId: string
  readonly seq: number
  /** The status with which the child ended; missing while it is active. */
  readonly status?: string
}

/** An event of a type that the agent invented. */
export interface CustomItem {
  readonly kind: 'custom'
  readonly id: string
  readonly type: string
  readonly payload: unknown
}

export type TranscriptItem =
  | TextItem
  | ReasoningItem
  | ToolItem
  | ApprovalItem
  | SourceItem
  | FileItem
  | DataItem
  | MessageItem
  | UserMessageItem
  | ChildItem
  | CustomItem

export interface Usage {
  readonly provider: string
  readonly model: string
  readonly inputTokens: number
  readonly cachedInputTokens: number
  readonly outputTokens: number
  readonly costUsd: number
}

/** What a reader of the log knows about a run after an event. */
export interface Transcript {
  readonly runId: string
  /** Missing until an event of the log names it. */
  readonly status?: string
  readonly attempt: number
  /** How often the code of the run was called. */
  readonly continuation: number
  /** In the order in which they were mentioned first. */
  readonly items: readonly TranscriptItem[]
  /** The state that the agent shows; missing when it never set one. */
  readonly state?: unknown
  readonly usage: readonly Usage[]
  /** The durable calls that have started and not ended. */
  readonly openSteps: readonly OpenStep[]
  readonly waitingFor?: unknown
  /** Why the model stopped in its last answer. */
  readonly modelFinishReason?: string
  /** Why the run ended. */
  readonly finishReason?: string
  readonly result?: unknown
  readonly error?: unknown
  readonly reason?: string
  readonly lastEventId?: string
}

export interface OpenStep {
  readonly seq: number
  readonly step: string
  readonly kind: string
}
