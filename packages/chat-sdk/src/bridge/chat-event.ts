/** Somebody who writes to the bot or presses a button. */
export interface ChatUser {
  /** The name of the adapter, such as `slack`. */
  readonly adapter: string
  readonly userId: string
  readonly name: string
}

/** What a person did in a chat, as the bridge stores it. */
export type ChatEvent =
  | {
      readonly kind: 'message'
      readonly user: ChatUser
      readonly threadId: string
      readonly messageId: string
      readonly input: unknown
    }
  | { readonly kind: 'stop'; readonly user: ChatUser; readonly threadId: string }
  | {
      readonly kind: 'decision'
      readonly user: ChatUser
      readonly threadId: string
      readonly approvalId: string
      readonly runId: string
      readonly approved: boolean
    }

export type MessageEvent = Extract<ChatEvent, { readonly kind: 'message' }>
export type DecisionEvent = Extract<ChatEvent, { readonly kind: 'decision' }>

/** A verified request of a platform, as the hook stored it. */
export interface Delivery {
  readonly adapter: string
  readonly deliveryId: string
  readonly contentType: string
  readonly body: string
}
