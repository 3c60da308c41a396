import type { SentToolResult } from '@perdure/core'
import type { SentDecision } from '../chat/pass-answers.ts'

/** The result of a call that the client has executed. */
export interface ToolAnswer extends SentToolResult {
  readonly runId: string
}

/** What a client answers: approvals that an earlier answer has asked for, and calls that the client executed. */
export interface SentAnswers {
  readonly decisions: readonly SentDecision[]
  readonly results: readonly ToolAnswer[]
}
