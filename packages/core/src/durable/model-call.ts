import type { Duration } from '@perdure/protocol'
import type { TokenUsage } from '../model-parts/stream-part.ts'
import type { ModelRequest } from './model-request.ts'
import type { UsageReport } from './usage/usage-report.ts'

/** What a step says about the model that it calls. Traces and metrics describe the step as a call of this model. */
export interface ModelCall {
  /** The provider, such as `openai`. */
  readonly provider?: string
  /** The id of the model that is asked. */
  readonly model?: string
  /** Default `'chat'`. */
  readonly operation?: 'chat' | 'embeddings' | 'generate_content' | 'text_completion'
  /** The messages for the model. Spans contain them only with `tracing.recordContent`. */
  readonly input?: unknown
  /** What the model is asked, as hashes. The event `step.start` has them, so that a later run can be compared. */
  readonly request?: ModelRequest
}

/** What a model has answered. */
export interface ModelAnswer {
  /** The model that has answered, if the provider names it. */
  readonly model?: string | undefined
  readonly finishReason?: string | undefined
  readonly usage?: TokenUsage | undefined
  /** The messages of the model. Spans contain them only with `tracing.recordContent`. */
  readonly output?: unknown
  /** What the answer costs. The commit of the result charges it to the run, so a crash charges no answer that is kept twice. */
  readonly charge?: UsageReport | undefined
}

/** Options of a step that waits for something that sends while it works. */
export interface StallOptions {
  /**
   * How long the step may make no progress before this execution fails. Default: none; for a step with `model`, the
   * `stallTimeout` of the registration.
   */
  readonly stallTimeout?: Duration
  /** The step calls a model. */
  readonly model?: ModelCall
}

export const DEFAULT_STALL_TIMEOUT_MS = 600_000
