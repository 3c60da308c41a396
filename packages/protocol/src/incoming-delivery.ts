/** A request to a hook, before anything in it is trusted. Only a `verify` function of the configuration receives it. */
export interface HookRequest {
  readonly hookId: string
  /** Reads a header. @param name in lower case */
  readonly header: (name: string) => string | undefined
  /** The body as it was received, unparsed. */
  readonly body: Uint8Array
  /** The values of `secretRef`, in its order. */
  readonly secrets: readonly string[]
  /** The time of the server, in milliseconds since the epoch. */
  readonly now: number
}

/** What a `verify` function decides: `false` refuses the request. */
export type HookVerification =
  | false
  | {
      /** The id under which the sender repeats the delivery. Without it, deliveries with the same body are repetitions. */
      readonly deliveryId?: string | undefined
    }

/** A verified delivery, as the functions `input`, `sessionId` and `key` of a hook receive it. */
export interface IncomingDelivery {
  readonly hookId: string
  /** The id that the sender gave the delivery. */
  readonly deliveryId: string
  /** The headers that the server stores, by their name in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The parsed body: JSON, or the fields of a form; otherwise the text. */
  // biome-ignore lint/suspicious/noExplicitAny: the sender decides the shape, as with `JSON.parse`
  readonly body: any
  readonly text: string
  /** When the server received it. */
  readonly receivedAt: Date
}
