import type { DataContent, ToolSet } from 'ai'

/** A part of a message of the user. */
type UserPart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'file'
      readonly data: DataContent | URL
      readonly mediaType: string
      readonly filename?: string
    }

export interface ConversationOptions {
  /** The tools of the agent: results of earlier calls go through their `toModelOutput`. */
  readonly tools?: ToolSet
  /** How many turns there are at most, with this one. Default and maximum: 100. */
  readonly maxTurns?: number | undefined
  /** What the model sees of a data part that the page has sent. By default, nothing. */
  readonly convertDataPart?: (part: {
    readonly type: 'data'
    /** `location` for a part `data-location`. */
    readonly name?: string | undefined
    readonly data: unknown
  }) => UserPart | undefined
}
