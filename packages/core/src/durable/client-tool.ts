import type { Duration } from '@perdure/protocol'

/** A call of a tool that the client of the run performs. */
export interface ClientToolCall<Args = unknown> {
  readonly name: string
  readonly args?: Args
  /**
   * The id of this call in events and in the answer of the client, such as the id that the model gave it. Unique in the run,
   * 1 to 128 visible ASCII characters. By default, the id is made from the run and the number of the call.
   */
  readonly toolCallId?: string
  /** What a user interface shows as the name of the call. */
  readonly title?: string
  /** How long to wait for the result; without it, the run waits for any time. */
  readonly timeout?: Duration
}
