import type { Frame } from '../projection.ts'

/** A chunk of the UI message stream of the AI SDK. */
export interface Chunk {
  readonly type: string
  readonly [member: string]: unknown
}

/**
 * The version of the AI SDK for which a stream is written. `workflow`: version 7 as the newest `@ai-sdk/workflow` knows it,
 * which has no chunk for steering messages.
 */
export type AiSdkVersion = 6 | 7 | 'workflow'

export const toFrame = (chunk: Chunk): Frame => ({ data: JSON.stringify(chunk) })

export const DONE: Frame = { data: '[DONE]' }
