import type { ResolvedApprovalStatus } from '@perdure/protocol'
import type { ModelRequest } from '../durable/model-request.ts'

export const RECORDING_FORMAT = 'perdure-recording-1'

/** A run as a fixture of tests: its input, and what models, tools and people answered, in the order of the calls. */
export interface RunRecording {
  readonly format: typeof RECORDING_FORMAT
  /** Set if what people, models and tools said is left out. */
  readonly isWithoutContent?: true
  readonly run: RecordedRun
  readonly calls: readonly RecordedCall[]
}

export interface RecordedRun {
  readonly id: string
  readonly target: { readonly kind: 'agent' | 'workflow'; readonly id: string }
  readonly sessionId?: string
  readonly input: unknown
  readonly status: string
  readonly result?: unknown
  readonly error?: unknown
  readonly usage: RecordedUsage
  readonly createdAt: string
  readonly completedAt?: string
}

export interface RecordedUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd: number
}

export type RecordedCall = RecordedModelCall | RecordedToolCall | RecordedDecision

/** One answer of a model. */
export interface RecordedModelCall {
  readonly kind: 'model'
  readonly seq: number
  readonly startedAt?: string
  readonly endedAt?: string
  /** What the model was asked, as hashes; missing for runs of earlier releases. */
  readonly request?: ModelRequest
  readonly answer: readonly RecordedPart[]
  readonly finishReason: string
  readonly usage?: RecordedUsage & { readonly cachedInputTokens?: number }
}

/** A piece of an answer. Arguments that are not JSON are their text. */
export type RecordedPart =
  | { readonly text: string }
  | { readonly reasoning: string }
  | { readonly toolCallId: string; readonly toolName: string; readonly args: unknown }
  /** A result of a tool that the provider executed. */
  | { readonly toolCallId: string; readonly result: unknown }
  | { readonly url: string; readonly title?: string; readonly sourceId?: string }
  | { readonly mediaType: string; readonly data: string }

export interface RecordedToolCall {
  readonly kind: 'tool'
  readonly seq: number
  readonly startedAt?: string
  readonly endedAt?: string
  readonly toolCallId: string
  readonly toolName: string
  readonly args: unknown
  readonly result?: unknown
  /** Whether `result` is `{ file }`, because the result is too long for the log. */
  readonly isResultInFile?: boolean
  readonly error?: { readonly kind: string; readonly message: string }
}

/** A decision of a person, or the expiry of an approval. */
export interface RecordedDecision {
  readonly kind: 'decision'
  readonly seq: number
  readonly endedAt?: string
  readonly name: string
  readonly toolCallId?: string
  readonly decision: ResolvedApprovalStatus
  readonly reason?: string
  readonly by?: string
}
