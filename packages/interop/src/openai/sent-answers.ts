import type { SentDecision } from '../chat/decide-approvals.ts'

/** The result of a call that the client has executed. */
export interface ToolAnswer {
  readonly runId: string
  readonly toolCallId: string
  readonly output: string
}

/** What a client answers: approvals that an earlier answer has asked for, and calls that the client executed. */
export interface SentAnswers {
  readonly decisions: readonly SentDecision[]
  readonly results: readonly ToolAnswer[]
}
