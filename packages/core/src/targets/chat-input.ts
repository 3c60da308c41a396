import type { ChatRole } from '@perdure/protocol'

export { CHAT_ROLES } from '@perdure/protocol'

/** A part of a message of a chat. */
export type ChatPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'file'; readonly mediaType: string; readonly url: string; readonly name?: string }
  | {
      readonly type: 'data'
      /** What the client calls the data: `location` for a part `data-location` of the AI SDK. */
      readonly name?: string
      /** The id that the client gave the part. */
      readonly id?: string
      readonly data: unknown
    }

export interface ChatMessage {
  /** The id that the client gave the message. */
  readonly id?: string
  readonly role: ChatRole
  /** What the client stores with the message, as it was sent. */
  readonly metadata?: unknown
  readonly content: readonly ChatPart[]
}

/** A tool that the client offers; `ctx.clientTool` calls it. */
export interface ChatTool {
  readonly name: string
  readonly description?: string
  /** JSON Schema of the arguments. */
  readonly parameters?: unknown
}

/** The input of an agent that is called through a chat protocol, unless its schema demands another form. */
export interface ChatInput {
  /** The text of the last message. */
  readonly text: string
  /** The new messages. `ctx.session.messages()` has the earlier ones. */
  readonly messages: readonly ChatMessage[]
  /** The tools that the client performs when the agent asks for it. */
  readonly tools?: readonly ChatTool[]
  /** The state of the client, and what it tells the agent besides, as AG-UI clients send them. */
  readonly state?: unknown
  readonly context?: readonly unknown[]
  /** Other members of the request, which the application defines. */
  readonly settings?: Readonly<Record<string, unknown>>
}
