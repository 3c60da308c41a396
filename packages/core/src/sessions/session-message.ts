/** How a tool call of an earlier turn has ended. A call always has an outcome, also when its turn was cut off. */
export type ToolCallOutcome =
  | { readonly status: 'done'; readonly result: unknown }
  /** `kind` is that of the failure of the tool. */
  | { readonly status: 'failed'; readonly error: string; readonly kind?: string }
  | { readonly status: 'denied'; readonly reason?: string }
  /** The turn ended, or is still working, without a result of the call. */
  | { readonly status: 'cut-off' }

/** A part of a message, in the form that no protocol owns. */
export type MessagePart = PartContent & {
  /** Whether a further answer of the model begins here, after the results of the tools that it called before. */
  readonly startsAnswer?: true
}

type PartContent =
  | { readonly type: 'text'; readonly text: string; readonly isCommentary?: true }
  | { readonly type: 'reasoning'; readonly text: string }
  | {
      readonly type: 'file'
      readonly mediaType: string
      /** A URL, also one with the scheme `data:`. */
      readonly url: string
      readonly name?: string
    }
  | { readonly type: 'data'; readonly name?: string; readonly data: unknown }
  | {
      readonly type: 'tool'
      readonly toolCallId: string
      readonly name: string
      readonly input: unknown
      /** The arguments with which a person has approved the call in place of `input`. */
      readonly editedInput?: unknown
      readonly isDynamic: boolean
      readonly outcome: ToolCallOutcome
    }

/** A message of the conversation, as model and page see it. */
export interface SessionMessage {
  readonly id: string
  /** Position in the transcript; missing for an answer without a result. */
  readonly seq?: number
  /** `summary`: what `ctx.session.compact` recorded, in place of all earlier messages. */
  readonly role: 'user' | 'assistant' | 'summary'
  /** The input or the result of the run, or what `append` was given; `null` for an answer without a result. */
  readonly content: unknown
  readonly parts: readonly MessagePart[]
  readonly runId?: string
  readonly createdAt: string
}
