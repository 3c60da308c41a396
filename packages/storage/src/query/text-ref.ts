/** Identifies a text column of one row. */
export type TextRef =
  | { readonly of: 'run'; readonly member: string; readonly id: string }
  | { readonly of: 'message'; readonly sessionId: string; readonly seq: number; readonly id: string }
  | { readonly of: 'step'; readonly runId: string; readonly seq: number }

/** A part of a long text, in bytes of UTF-8. */
export interface TextPart {
  readonly ref: TextRef
  readonly offset: number
  readonly length: number
}
